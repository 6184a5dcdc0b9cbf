"""The verb `gate`: whether head is slower than base, both started by orch, measured in one run, alarms measured again."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.shared_options import AsJson, Overrides, ShareMachine, parsed
from orchestrator.cli.tables import coloured, table
from orchestrator.disk import output
from orchestrator.errors import Interrupted, InvalidMeasurement, OrchError, Undecided, UsageError
from orchestrator.experiment.read.units import DURATION, parse_margin

if TYPE_CHECKING:
    from orchestrator.gate.arms import Sides
    from orchestrator.gate.procedure import Gate
    from orchestrator.gate.verdict import GateResult

_STYLES = {"slower": "red", "not slower": "green", "undecided": "yellow"}
_HEADS = ("", "call", "", "base", "head", "ratio", "95 % interval")
_LIMIT = 0.05
_FILES = ("--junit", "--markdown")
_WAYS = "orch gate FILE --base REF, or --base-folder and --head-folder"


def gate(
    file: Annotated[Path, typer.Argument(help="The experiment, a YAML file, with `services` of your own.")],
    base: Annotated[str | None, typer.Option(metavar="REF", help="The commit that head is compared with.")] = None,
    head: Annotated[str, typer.Option(metavar="REF", help="A commit, or `.`: the working folder as it is.")] = ".",
    base_folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Without git: what takes the place of the experiment's folder."),
    ] = None,
    head_folder: Annotated[Path | None, typer.Option(metavar="DIR", help="Head's folder likewise.")] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="[CALL=]SHARE", help="A slowdown as large must be found: 5%, or order=10% of one call."),
    ] = None,
    budget: Annotated[str, typer.Option(metavar="TIME", help="Measuring takes no longer; building is extra.")] = "5m",
    undecided: Annotated[
        Literal["pass", "fail"], typer.Option(help="Whether an undecided gate ends with 0 or with 8.")
    ] = "fail",
    only_plan: Annotated[
        bool, typer.Option("--plan", help="Show how many blocks it takes, and whether there is time for them.")
    ] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write Markdown for a comment, which begins with a marker line.")
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Keep the result in .orch/gates.jsonl, for the forecasts of later gates.")
    ] = False,
    share: ShareMachine = False,
    overrides: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Show whether head is slower than base: builds and starts both, measures them in turns, and alarms once more.

    Exit codes: 0 not slower, 1 slower in two of two runs, 8 undecided, 2 bad input or replies that differ, 3 a version does
    not build, start or answer, or another run measures here, 5 a check failed.
    """
    from orchestrator.gate import words
    from orchestrator.report.comparison import junit as junit_xml

    console.as_json = as_json
    with _sides(file, base, head, base_folder, head_folder) as sides:
        budget_s = parsed("--budget", DURATION.number, budget)
        gate = _gate(file, overrides or [], sides, _limits(limit or ()), budget_s, share=share)
        _forecast(gate, is_all=only_plan)
        if only_plan:
            return
        try:
            gate.prepare()
            result = gate.measure()
        except OrchError as error:
            without = words.without_verdict(gate.arms, gate.limit, error)
            _write(junit, junit_xml(*without, fails_undetermined=True))
            _write(markdown, words.markdown_without_verdict(gate.arms.name, error))
            if isinstance(error, Interrupted):
                error.hint = "start the gate again: a run that is resumed has no verdict"
            raise
    comparison, judgement = words.comparison(result), words.judgement(result)
    _write(junit, junit_xml(comparison, judgement, fails_undetermined=undecided == "fail"))
    _write(markdown, words.markdown(result, shlex.join(_repeats(sys.argv[1:]))))
    if record:
        from orchestrator.gate.forecast import record as keep

        keep(WORKSPACE.gates, {"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", **result.to_dict()})
    _show(result)
    _end(result, passes_undecided=undecided == "pass")


def _limits(options: Sequence[str]) -> dict[str, float]:
    """The limit of each call that has its own; that of the others has no name."""
    words = [option.rpartition("=") for option in options]
    return {name: parsed("--limit", parse_margin, share) for name, _, share in words}


@contextmanager
def _sides(
    file: Path, base: str | None, head: str, base_folder: Path | None, head_folder: Path | None
) -> Iterator[Sides]:
    """Both versions, in the one way that was given; UsageError for none or both."""
    from orchestrator.gate import arms

    if base is not None and base_folder is None and head_folder is None:
        with arms.commits(file, base, head, WORKSPACE.state) as sides:
            yield sides
    elif base is None and base_folder is not None and head_folder is not None and head == ".":
        yield arms.without_git(base_folder, head_folder)
    else:
        raise UsageError("base and head are either two commits or two folders, both given", hint=_WAYS)


def _gate(
    file: Path, overrides: list[str], sides: Sides, limits: Mapping[str, float], budget_s: float, *, share: bool
) -> Gate:
    from orchestrator.gate.arms import HEAD, read
    from orchestrator.gate.procedure import LEAST_S, Gate

    if budget_s < 6 * LEAST_S:
        raise UsageError(f"--budget: nothing is decided in less than {6 * LEAST_S:.0f} s")

    arms = read(file, overrides, sides)
    if changed := sides[HEAD].changed:
        console.warning(f"head has changes that are not committed: {', '.join(changed)}")
    for name in limits:
        if name not in ("", *arms.calls):
            raise UsageError(f"--limit: no call is named {name}", hint=f"calls: {', '.join(arms.calls)}")
    return Gate(
        arms=arms,
        limit=limits.get("", _LIMIT),
        own_limits=limits,
        budget_s=budget_s,
        share=share,
        workspace=WORKSPACE,
        listener=console,
        command=["orch", *sys.argv[1:]],
    )


def _forecast(gate: Gate, *, is_all: bool) -> None:
    from orchestrator.gate.words import forecast_line

    forecasts = gate.forecasts()
    for number, forecast in enumerate(forecasts):
        (console.result if is_all else console.progress)(forecast_line(forecast, gate.limit_of(number)))
    if is_all:
        console.emit([asdict(forecast) | {"can_decide": forecast.can_decide} for forecast in forecasts])


def _repeats(words: Sequence[str]) -> Iterator[str]:
    """Yield the command without the files that it writes."""
    yield "orch"
    before = ""
    for word in words:
        if before not in _FILES and word.partition("=")[0] not in _FILES:
            yield word
        before = word


def _write(path: Path | None, text: str) -> None:
    if path is not None:
        with output(path, "measure again") as partial:
            partial.write_text(text, encoding="utf-8")


def _show(result: GateResult) -> None:
    from orchestrator.gate import words

    console.emit(result.to_dict())
    console.lines(coloured(table(_HEADS, words.figures(result)), _STYLES))
    console.result(f"{words.noise_line(result)}; {words.effort(result)}")
    for run in result.runs:
        if run.report:
            console.result(f"report  {run.report}")
    if result.verdict == "not slower":
        console.result(words.sentence(result))


def _end(result: GateResult, *, passes_undecided: bool) -> None:
    """Raise what the exit code says: a failed check comes first, as its numbers are invalid."""
    from orchestrator.gate.words import judgement

    failed = sorted({check for run in result.runs for check in run.failed_checks})
    if failed:
        raise InvalidMeasurement(f"checks failed: {', '.join(failed)}", hint=f"orch runs check {result.runs[-1].run}")
    error = judgement(result).error
    if isinstance(error, Undecided) and passes_undecided:
        console.warning(f"{error.message}; --undecided pass lets it pass")
    elif error is not None:
        raise error
