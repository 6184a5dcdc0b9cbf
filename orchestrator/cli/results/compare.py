"""The verb `compare`: two runs, or the stacks of one; with `--fail-if-slower` a gate."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged
from orchestrator.cli.shared_options import AsJson, Run, complete_runs
from orchestrator.cli.tables import coloured, table
from orchestrator.errors import OrchError, Undecided, UsageError
from orchestrator.results.outputs import output, require_output

if TYPE_CHECKING:
    from orchestrator.between_runs.across import NothingInCommon, Row, RunComparison
    from orchestrator.findings.compare import Statistic
    from orchestrator.wording.gate import Judgement


STDOUT = Path("-")

_STYLES = {
    "improved": "green",
    "faster": "green",
    "regressed": "red",
    "slower": "red",
    "unchanged": "dim",
    "tie": "dim",
    "not resolved": "yellow",
    "cannot tell": "yellow",
}


def compare(
    run: Run,
    reference: Annotated[
        str | None,
        typer.Argument(
            help="The run to compare with; by default, the run's own stacks are compared.",
            autocompletion=complete_runs,
        ),
    ] = None,
    statistic: Annotated[
        Literal["median", "p99", "throughput"], typer.Option(help="Which of each trial's numbers to compare.")
    ] = "median",
    fail_if_slower: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Exit with 1 when something is significantly slower by more than this (5%, or `matters`: the experiment's"
            " own), with 8 when that is undetermined, with 0 only when every interval lies below it.",
        ),
    ] = None,
    allow_undetermined: Annotated[
        bool,
        typer.Option(
            "--allow-undetermined",
            help="With --fail-if-slower: end with 0, and a warning, instead of 8, where cells were compared.",
        ),
    ] = False,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write JUnit XML, a test case for each row; `-` is stdout.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write Markdown for a summary or a comment; `-` is stdout.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs, or the stacks of one: ratios with intervals, a row per cell; above 1 is slower.

    Exit codes with --fail-if-slower: 0 not slower, 1 significantly slower, 8 undetermined (0 with
    --allow-undetermined). Runs without a cell in common end with 8, too (without it with 2); other runs that cannot be
    compared with 2.
    """
    console.as_json = as_json
    limit = None if fail_if_slower is None else _limit(fail_if_slower)
    is_closed = limit is not None
    _require_sense(junit, markdown, as_json=as_json, allows=allow_undetermined, is_closed=is_closed)
    compared = _compared(run, reference, statistic)
    comparison, refused = compared.comparison, compared.refused
    judgement = _judgement(compared, limit if isinstance(limit, float) else comparison.margin)
    fails_undetermined = is_closed and not (allow_undetermined and refused is None)
    commands = [*compared.commands, _command(compared.runs, statistic, fail_if_slower)]
    _write_files(junit, markdown, comparison, judgement, commands, fails_undetermined=fails_undetermined)
    if refused is None:
        console.emit(_document(comparison, judgement if is_closed else None))
        if STDOUT not in (junit, markdown):
            _print(comparison)
    if not is_closed and refused is not None:
        raise refused
    if is_closed and judgement.error is not None:
        _end(judgement.error, is_refused=refused is not None, allows=allow_undetermined)


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """A comparison, and the calls that make its runs again; `refused` where the runs have no cell in common."""

    comparison: RunComparison
    runs: tuple[str, ...]  # as a call names them
    commands: tuple[str, ...]
    refused: NothingInCommon | None = None


def _judgement(compared: _Compared, limit: float) -> Judgement:
    """The gate's result; undetermined where nothing could be compared."""
    from orchestrator.wording.gate import Judgement, judge

    refused = compared.refused
    if refused is None:
        return judge(compared.comparison, limit)
    error = Undecided(refused.message, hint=refused.hint)
    return Judgement(limit=limit, outcomes=(), sentence=refused.message, error=error)


def _require_sense(junit: Path | None, markdown: Path | None, *, as_json: bool, allows: bool, is_closed: bool) -> None:
    """UsageError, before anything is read, for options that contradict each other, and for a place that is no file's."""
    if allows and not is_closed:
        raise UsageError(
            "--allow-undetermined changes how --fail-if-slower ends, which is not given",
            hint="orch compare NEW OLD --fail-if-slower 5% --allow-undetermined",
        )
    if [junit, markdown, STDOUT if as_json else None].count(STDOUT) > 1:
        raise UsageError("only one document can go to stdout", hint="give --junit or --markdown a file's name")
    if junit is not None and junit == markdown:
        raise UsageError(f"--junit and --markdown both name {junit}", hint="give each a file of its own")
    for option, path in (("--junit", junit), ("--markdown", markdown)):
        if path is not None and path != STDOUT:
            require_output(path, option)


def _write_files(
    junit: Path | None,
    markdown: Path | None,
    comparison: RunComparison,
    judgement: Judgement,
    commands: Sequence[str],
    *,
    fails_undetermined: bool,
) -> None:
    """Write the files that were named; MissingError where the disk refuses."""
    if junit is not None:
        from orchestrator.report.comparison import junit as junit_xml

        _write(junit, junit_xml(comparison, judgement, fails_undetermined=fails_undetermined), "--junit")
    if markdown is not None:
        from orchestrator.report.comparison import markdown as markdown_text

        _write(markdown, markdown_text(comparison, judgement, commands), "--markdown")


def _write(path: Path, text: str, option: str) -> None:
    if path == STDOUT:
        for line in text.splitlines():
            console.result(line)
        return
    with output(path, option, "compare again") as partial:
        partial.write_text(text, encoding="utf-8")


def _end(error: OrchError, *, is_refused: bool, allows: bool) -> None:
    """Raise the error of a gate, unless it is that nothing could be determined, and the call allows that."""
    if allows and isinstance(error, Undecided) and not is_refused:
        console.warning(f"{error.message}; --allow-undetermined lets it pass")
        return
    if not is_refused:
        console.as_json = False  # stdout holds its one document already
    raise error


def _compared(run: str, reference: str | None, statistic: Statistic) -> _Compared:
    """The runs read and compared; UsageError where that cannot be."""
    from orchestrator.between_runs.across import NothingInCommon, RunComparison, compare_runs, compare_within
    from orchestrator.between_runs.measured_runs import beside
    from orchestrator.results.folder import RunFolder

    folder = RunFolder.open(run, root=WORKSPACE.results)
    new = judged(folder)
    if reference is None:
        return _Compared(
            comparison=compare_within(new, statistic),
            runs=(_named(run, folder.id),),
            commands=(new.repeat_command,),
        )
    other = RunFolder.open(reference, root=WORKSPACE.results)
    old = judged(other)
    commands = tuple(dict.fromkeys((old.repeat_command, new.repeat_command)))
    names = _named(run, folder.id), _named(reference, other.id)
    history = beside(new, old, folder, other)
    try:
        comparison = compare_runs(new, old, statistic, history)
    except NothingInCommon as error:
        nothing = RunComparison(
            of=new.run_id, reference=old.run_id, statistic=statistic, margin=min(new.matters, old.matters), rows=()
        )
        return _Compared(comparison=nothing, runs=names, commands=commands, refused=error)
    return _Compared(comparison=comparison, runs=names, commands=commands)


def _named(given: str, run_id: str) -> str:
    """What names a run later on, too: its path below the working folder where that was given, else its id."""
    from orchestrator.results.shareable import file_name

    return file_name(given) if "/" in given else run_id


def _command(runs: tuple[str, ...], statistic: str, limit: str | None) -> str:
    """The call that compares them again; it writes no file."""
    chosen = [] if statistic == "median" else ["--statistic", statistic]
    gate = [] if limit is None else ["--fail-if-slower", limit]
    return shlex.join(["orch", "compare", *runs, *chosen, *gate])


def _document(comparison: RunComparison, judgement: Judgement | None) -> dict[str, Any]:
    """The comparison as plain data; with what the gate found, where there is one."""
    document = comparison.to_dict()
    if judgement is not None:
        document["gate"] = {
            "limit": judgement.limit,
            "overall": judgement.overall,
            "outcomes": list(judgement.outcomes),  # of each row
            "sentence": judgement.sentence,
        }
    return document


def _print(comparison: RunComparison) -> None:
    turned = "; of throughput the ratio is that of times per request" if comparison.statistic == "throughput" else ""
    console.result(
        f"{comparison.of} against {comparison.reference}, by {comparison.statistic}; above 1 is slower{turned}"
    )
    if comparison.model:
        console.result(comparison.model)
    for difference in comparison.differences:
        console.result(f"  differs between the runs: {difference}")
    for text in comparison.in_all_rows:
        if text not in comparison.differences:
            console.result(f"  in every row: {text}")
    for group, rows in groupby(comparison.rows, key=lambda row: row.group):
        console.result(console.style(group, "bold"))
        lines = [line for row in rows for line in _rows(row, comparison.margin, comparison.in_all_rows)]
        for line in coloured(table(("", "", "", ""), lines), _STYLES):
            console.result(line)
    if any(row.value is not None for row in comparison.rows):
        console.result(
            "  The ratio is the geometric mean over blocks, and so are the numbers in brackets; "
            "of latencies the report shows the same."
        )
    if any(row.costs for row in comparison.rows):
        console.result(
            "  Below a row is what its requests cost: CPU time, bytes, packets of 1,000 of them; peak memory of a process."
        )


def _rows(row: Row, margin: float, in_all_rows: tuple[str, ...]) -> Iterator[tuple[str, str, str, str]]:
    """Yield verdict, ratio, interval and words of a row; then what is particular to it."""
    from orchestrator import quantities
    from orchestrator.findings.trial_values import COSTS
    from orchestrator.wording.reasons import why

    def figures(ratio: float | None, interval: tuple[float, float] | None) -> tuple[str, str]:
        bounds = "" if interval is None else " to ".join(quantities.bounds(interval, margin))
        return "-" if ratio is None else quantities.factor(ratio), bounds

    yield row.verdict, *figures(row.ratio, row.interval), f"{row.label}{_values(row)}: {why(row)}"
    for cost in row.costs:
        before, after = (
            "-" if value is None else quantities.cost(cost.statistic, value)
            for value in (cost.reference_value, cost.value)
        )
        text = f"{COSTS[cost.statistic]} ({before} -> {after}): {cost.verdict}"
        yield "", *figures(cost.ratio, cost.interval), text
    but = "but " if row.verdict == "cannot tell" else ""
    for text in (*(f"{but}{text}" for text in row.doubts if text not in in_all_rows), *row.notes):
        if text not in in_all_rows:
            yield "", "", "", text


def _values(row: Row) -> str:
    from orchestrator.report.comparison import values

    both = values(row)
    return "" if both is None else f" ({both[0]} -> {both[1]})"


def _limit(text: str) -> float | Literal["matters"]:
    """A share, or `matters` itself; UsageError as `_share`."""
    return "matters" if text.strip().casefold() == "matters" else _share(text)


def _share(text: str) -> float:
    """`5%` or `0.05` as 0.05; UsageError for anything else, and for a bare 5, which is hardly meant as 500 %."""
    number, percent = text.strip().removesuffix("%").strip(), text.strip().endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if share >= 1 and not percent:
        raise UsageError(
            f"--fail-if-slower {text!r} would be {share * 100:g} %: a share of 1 or more needs a percent sign",
            hint=f"write {number}%",
        )
    if not 0 <= share < 100:
        raise UsageError(f"--fail-if-slower {text!r} is not a share", hint="write 5% or 0.05, or `matters`")
    return share
