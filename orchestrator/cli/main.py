"""`orch`: registers the verbs, and turns every error into one message and one exit code."""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from orchestrator import __version__
from orchestrator.cli.console import console
from orchestrator.cli.streams import settle
from orchestrator.disk import explained
from orchestrator.errors import Interrupted, OrchError, UsageError, nearest
from orchestrator.files import UnreadableFile, read_file


@dataclass(frozen=True)
class Verb:
    """A verb: its panel of the help, the module and the function behind it, and one line on it.

    A group has `verbs` in place of a function; `default` is the one that runs where none is named.
    """

    panel: str
    place: str  # module:function below `orchestrator.cli`, imported when the verb is called
    summary: str
    verbs: Mapping[str, Verb] | None = None
    default: str | None = None


_FIND, _KEEP = "Find", "Keep"
RUNS = {
    "list": Verb(_FIND, "runs.listing:list_runs", "List the runs that are here, newest first (the default)."),
    "show": Verb(_FIND, "runs.show:show", "Show the result of a run: the answer and its figures."),
    "check": Verb(_FIND, "runs.show:check", "Show whether a run is valid: each check, and what to do."),
    "trend": Verb(_FIND, "runs.trends:trend", "Show a cell over runs, and mark where it changed."),
    "verify": Verb(_FIND, "runs.verify:verify", "Recompute a run's or a report's figures from its samples."),
    "note": Verb(_KEEP, "runs.listing:note", "Write a note on a run, or show its notes."),
    "delete": Verb(_KEEP, "runs.listing:delete", "Delete runs, their reports and their notes."),
    "publish": Verb(_KEEP, "runs.listing:publish", "Publish runs in a team's index."),
    "unpublish": Verb(_KEEP, "runs.listing:unpublish", "Take runs out of a team's index."),
}
SETUP = {"build": Verb("Setup", "machine.build:build", "Build the programs of languages that need it.")}
_MEASURE, _READ, _MACHINE = "Measure", "Read results", "Machine and hosts"
VERBS = {
    "run": Verb(
        _MEASURE, "experiments.running:run", "Run an experiment: make hosts, measure, check, report, tear down."
    ),
    "plan": Verb(
        _MEASURE, "experiments.planning:plan", "Show what an experiment measures, how long it takes, what it needs."
    ),
    "gate": Verb(
        _MEASURE, "experiments.gating:gate", "Show whether a change made a service slower: base and head in one run."
    ),
    "init": Verb(_MEASURE, "experiments.start:init", "Write an experiment file to change."),
    "examples": Verb(_MEASURE, "experiments.start:examples", "List the shipped experiments by question."),
    "report": Verb(_READ, "results.report:report", "Write a run's report again, from its stored data."),
    "compare": Verb(_READ, "results.compare:compare", "Compare two runs, or the stacks of one; a gate for CI."),
    "predict": Verb(_READ, "results.predict:predict", "Predict latencies at your own distance, payload and link."),
    "runs": Verb(_READ, "", "List, show, check, delete and share runs.", RUNS, "list"),
    "serve": Verb(_READ, "machine.serve:serve", "Show runs, comparisons and trends in a browser."),
    "export": Verb(_READ, "results.export:export", "Write runs as CSV, JSON, Excel, Parquet or Markdown."),
    "audit": Verb(_READ, "results.audit:audit", "Examine published figures: supported, contradicted, impossible."),
    "doctor": Verb(_MACHINE, "machine.doctor:doctor", "Show what this machine can do, and what it lacks."),
    "services": Verb(_MACHINE, "machine.services:services", "List protocols, servers and clients."),
    "setup": Verb(_MACHINE, "", "Build the programs of languages.", SETUP),
    "status": Verb(_MACHINE, "machine.hosts:status", "Show hosts that are up and runs in progress."),
    "ssh": Verb(_MACHINE, "machine.hosts:ssh", "Open a shell on a host, or run one command there."),
    "teardown": Verb(_MACHINE, "machine.hosts:teardown", "Take down every host and process that is up."),
}


class Verbs(TyperGroup):
    """The verbs of a table, each imported when it is called: `orch --help` pays for none of them."""

    def __init__(self, *, verbs: Mapping[str, Verb] = VERBS, default: str | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.verbs = verbs
        self.default = default

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """The words of a call; the group's default verb comes before options where no verb is named."""
        if self.default and (not args or (args[0].startswith("-") and args[0] not in ("-h", "--help"))):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the framework's signature
        """Every verb, in the order of the table."""
        return list(self.verbs)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb of that name; a usage error that names the nearest one otherwise."""
        if cmd_name not in self.verbs:
            ctx.fail(f"unknown command {cmd_name!r}.{_meant(cmd_name, self.verbs)}")
        verb = self.verbs[cmd_name]
        if verb.verbs is not None:
            return Verbs(
                name=cmd_name, verbs=verb.verbs, default=verb.default, help=verb.summary, rich_markup_mode=None
            )
        module, function = verb.place.split(":")
        single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        single.command(cmd_name)(getattr(importlib.import_module(f"orchestrator.cli.{module}"), function))
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the framework's signature
        """The verbs in their panels, from the table alone."""
        for panel, names in groupby(self.verbs, key=lambda name: self.verbs[name].panel):
            with formatter.section(panel):
                formatter.write_dl([(name, self.verbs[name].summary) for name in names])


def _meant(word: str, verbs: Mapping[str, Verb]) -> str:
    """Which verb an unknown word may stand for, as a question; empty where none is near."""
    inside = [f"orch {group} {word}" for group, verb in VERBS.items() if verb.verbs and word in verb.verbs]
    near = inside if verbs is VERBS and inside else nearest(word, verbs)
    return f" Did you mean {near[0]}?" if near else ""


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
    version: Annotated[  # noqa: ARG001 - its callback is what it does
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    secrets: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Read variables that calls name as ${NAME}: NAME=value, one a line."),
    ] = None,
) -> None:
    """Hold the options that come before a verb."""
    if secrets is not None:
        set_variables(secrets)


_VARIABLE = re.compile(r"""(?:export\s+)?(?P<name>[A-Za-z_]\w*)=(?P<quote>["']?)(?P<value>[^\0]*)(?P=quote)""")
_MOST_BYTES = 2**20


def set_variables(file: Path) -> None:
    """Set what a file has for this process and those that it starts; a variable that is set already stays as it is."""
    try:
        lines = read_file(file, _MOST_BYTES).decode("utf-8-sig").splitlines()
    except (OSError, UnreadableFile, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"--secrets: {file} cannot be read: {reason}", hint="give a file of NAME=value lines"
        ) from None
    for number, line in enumerate(map(str.strip, lines), start=1):
        if line and not line.startswith("#"):
            if (variable := _VARIABLE.fullmatch(line)) is None:
                raise UsageError(f"{file}:{number} is no variable", hint="write NAME=value, or a comment after #")
            os.environ.setdefault(variable["name"], variable["value"])


def main() -> NoReturn:
    """Run the program; the only place that ends the process."""
    settle()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # SIGHUP is ignored under nohup
            signal.signal(number, _end_in_order)
    status, console.has_answered = None, False
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
    except Exception as error:  # noqa: BLE001 - a fault of our own must end with its exit code
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
        console.error(UsageError(words, hint=hint))
    return int(error.exit_code)


def _end_in_order(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - the signal module's signature
    """As Ctrl-C: what waits for a child ends it first. `orch run` has its own way (`measure.interrupts`)."""
    raise Interrupted(f"ended by {signal.Signals(number).name}")


def _report_crash(error: Exception) -> OrchError:
    """Show the traceback, which a bug report can quote; the error that says so."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        console.progress(line)
    return OrchError(f"orch failed: {type(error).__name__}: {error}", hint="please report it, with the traceback above")
