"""`orch`: registers the verbs, and turns every error into one message and one exit code."""

from __future__ import annotations

import importlib
import re
import signal
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup

from orchestrator import __version__
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.streams import settle
from orchestrator.disk import explained, whole_file
from orchestrator.errors import Interrupted, OrchError, UsageError, nearest

# In the order in which a person meets them. A verb is the function `command` of the module of its name, or the function of
# its name in a module of `SHARED`; it is imported when it is called: `orch --help` pays for none of them.
VERBS: dict[str, str] = {
    "init": "Start an experiment: write a commented YAML file to change.",
    "doctor": "Show what this machine can do, and what each provider still needs.",
    "services": "List protocols, operations, implementations and clients.",
    "build": "Build the programs of languages that need it.",
    "seed": "Seed a database with accounts and transactions, or verify that it is seeded.",
    "validate": "Check experiment files without starting anything.",
    "schema": "Print the JSON Schema of experiment files, for editors.",
    "plan": "Resolve an experiment into its matrix, schedule and expected duration.",
    "report": "Write a run's report again, from its stored data or from a report alone.",
    "export": "Write runs as CSV, JSON, Excel, HTML, Parquet or Markdown, for other programs and other people.",
    "predict": "Predict latencies at your own distance, payload and link, from a run.",
    "check": "Show whether a run is valid: each check, its verdict, its numbers, and what to do.",
    "verify": "Compare a stored run with what was recorded when it was made, or a report with the samples in it.",
    "compare": "Compare two runs, or the stacks of one: improved, regressed, unchanged, or not resolved.",
    "runs": "List the runs that are here, newest first, with their checks and answers.",
    "history": "Show a cell over runs, and mark where it changed.",
    "note": "Write a note on a run, or show its notes.",
    "tag": "Tag a run, or remove its tags.",
    "delete": "Delete runs: their folders, their reports, and what was noted of them.",
    "import": "Take in runs that were made elsewhere.",
    "publish": "Put runs into a team's index (a database) and its dataset of samples (folder, S3, Google Cloud Storage).",
    "unpublish": "Take runs out of a team's index and dataset.",
    "merge": "Lay several machines' runs of one experiment side by side, and show whether they agree.",
    "serve": "Show runs, comparisons and trends in a browser: a web page on this machine.",
    "run": "Run a plan: make the hosts, measure, check, report, take everything down.",
    "referee": "Run an experiment beside independent load generators, and show whether they measure what we do.",
    "teardown": "Take down what is running: every run's hosts or, on this machine, its processes.",
    "status": "Show which hosts are up and which runs are in progress, since when, and until when.",
    "ssh": "Open a shell on a host that is up, or run one command there.",
    "audit": "Examine published figures: supported, contradicted, impossible, or undetermined.",
}
SHARED = {
    "experiments": ("init", "validate", "schema", "plan"),
    "runs": ("note", "tag", "delete", "import"),
    "teams": ("publish", "unpublish"),
    "hosts": ("teardown", "status", "ssh"),
}


class Verbs(TyperGroup):
    """The verbs of `VERBS`, each imported when it is called."""

    _are_names = False  # whether verbs are wanted for their names alone

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """The verbs and options that begin so; no verb is imported for it."""
        self._are_names = True
        return super().shell_complete(ctx, incomplete)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the framework's signature
        """Every verb, in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb of that name, made from its module; a usage error that names the nearest one otherwise."""
        if cmd_name not in VERBS:
            near = nearest(cmd_name, VERBS)
            ctx.fail(f"unknown command {cmd_name!r}." + (f" Did you mean {near[0]}?" if near else ""))
        if self._are_names:
            return TyperCommand(cmd_name, help=VERBS[cmd_name])
        function, text = _verb(cmd_name)
        single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        single.command(cmd_name, help=text)(function)
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the framework's signature
        """The list of verbs in `orch --help`, from the table alone."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


def _verb(name: str) -> tuple[Callable[..., None], str | None]:
    """The function of a verb, and the text of its help."""
    for shared, names in SHARED.items():
        if name in names:
            function = getattr(importlib.import_module(f"orchestrator.cli.{shared}"), name.replace("import", "import_"))
            return function, function.__doc__
    module = importlib.import_module(f"orchestrator.cli.{name}")
    return module.command, module.__doc__


_CHOICE = re.compile(r"'[^']*' is not one of ('[^']*',? ?)+")
_QUOTED = re.compile(r"'([^']*)'")
_CallError = cast("type[Exception]", typer.BadParameter.__mro__[2])  # every error of the framework's own


app = typer.Typer(
    cls=Verbs,
    help="Which protocol should these two services speak, here, with my payload, over my distance?",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        console.result(f"orch {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Hold the options that come before a verb."""


def main() -> NoReturn:
    """Run the program; the only place that ends the process."""
    settle()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # SIGHUP is ignored under nohup
            signal.signal(number, _end_in_order)
    status = None
    try:
        status = app(prog_name="orch", standalone_mode=False)
    except _CallError as error:
        sys.exit(_refuse_call(error))
    except typer.Abort:
        sys.exit(1)
    except OrchError as error:
        console.error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        status = Interrupted.exit_code  # where the framework has not made it so
    except OSError as error:
        refused = explained(error) or _report_crash(error)
        console.error(refused)
        sys.exit(refused.exit_code)
    except Exception as error:  # noqa: BLE001 - a fault of our own must end in one line and a traceback on disk
        console.error(_report_crash(error))
        sys.exit(OrchError.exit_code)
    if status == Interrupted.exit_code:
        console.error(Interrupted("interrupted"))
    raise SystemExit(status if isinstance(status, int) else 0)


def _refuse_call(error: Any) -> int:
    """Say what is wrong with the words of the call, as the framework does, but through the console; the exit status."""
    context, words = getattr(error, "ctx", None), str(error.format_message())
    if context is not None and words == context.get_help():  # of a call without words
        for line in words.splitlines():
            console.progress(line)
    else:
        if context is not None:
            console.progress(context.get_usage())
        hint = None if context is None else f"`{context.command_path} --help`"
        console.error(UsageError(_with_meant(error, words), hint=hint))
    return int(error.exit_code)


def _with_meant(error: Any, words: str) -> str:
    """The words with what an unknown option or value may stand for, whatever its case; the framework minds it."""
    words = words.replace(": Value error, ", ": ")  # pydantic's, whose sentence stands behind it
    context, param, unknown = (getattr(error, name, None) for name in ("ctx", "param", "option_name"))
    if unknown is not None and context is not None:
        near = nearest(unknown, [name for of in context.command.params for name in (*of.opts, *of.secondary_opts)])
        return f"{error.message}. Did you mean {near[0]}?" if near and near[0] != unknown else words
    if param is not None and (quoted := _CHOICE.search(error.message)):
        given, *known = _QUOTED.findall(quoted.group())
        near = nearest(given, known)
        return f"{words} Did you mean {near[0]}?" if near else words
    return words


def _end_in_order(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - the signal module's signature
    """As Ctrl-C: what waits for a child ends it first. `orch run` has its own way (`measure.interrupts`)."""
    raise Interrupted(f"ended by {signal.Signals(number).name}")


def _report_crash(error: Exception) -> OrchError:
    """Write the traceback where a bug report can quote it; the error that says where."""
    text = "".join(traceback.format_exception(error))
    name = f"crash-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.log"
    summary = f"orch failed: {type(error).__name__}: {error}"
    for folder in (WORKSPACE.state, Path("~")):
        try:
            folder = folder.expanduser()
            folder.mkdir(exist_ok=True)
            with whole_file(folder / name) as partial:  # never through a link that lies there
                partial.write_text(text, encoding="utf-8", errors="backslashreplace")
        except (OSError, RuntimeError):
            continue
        return OrchError(summary, hint=f"the traceback is in {folder / name}; please report it")
    for line in text.splitlines():
        console.progress(line)
    return OrchError(summary, hint="the traceback above could not be written anywhere; please report it")
