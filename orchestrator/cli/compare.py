"""Compare two runs, or the stacks of one: ratios with intervals, and what they show.

Exit codes with --fail-if-slower: 0 surely not slower, 1 surely slower, 8 neither can be said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchestrator.cli.console import console

if TYPE_CHECKING:
    from orchestrator.analysis.across import Row, RunComparison
    from orchestrator.analysis.history import EqualRun
    from orchestrator.analysis.summary import RunSummary
    from orchestrator.results.folder import RunFolder

_RUNS_READ = 100  # the newest of a folder: a summary may be a megabyte

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


def command(
    run: Annotated[str, typer.Argument(help="Run id, its beginning, a path, or `latest`.")],
    reference: Annotated[
        str | None, typer.Argument(help="The run to compare with; without it, the run's own stacks are compared.")
    ] = None,
    statistic: Annotated[
        Literal["median", "p99", "throughput"], typer.Option(help="Which of each trial's numbers to compare.")
    ] = "median",
    fail_if_slower: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Exit with 1 when something is surely slower by more than this (5%), with 8 when that is undetermined, "
            "with 0 only when every interval lies below it.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Print a row per cell; above 1 is slower."""
    from orchestrator.analysis.across import compare_runs, compare_within
    from orchestrator.analysis.gate import require_not_slower
    from orchestrator.analysis.summarise import summarise
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    limit = None if fail_if_slower is None else _share(fail_if_slower)
    folder = RunFolder.open(run)
    new = summarise(folder)
    if reference is None:
        comparison = compare_within(new, statistic)
    else:
        other = RunFolder.open(reference)
        old = summarise(other)
        history, passed_over = _history(new, old, folder, other)
        comparison = compare_runs(new, old, statistic, history, passed_over)
    console.emit(comparison.to_dict())
    _print(comparison)
    if limit is not None:
        console.as_json = False  # stdout holds its one document already
        require_not_slower(comparison, limit)


def _history(new: RunSummary, old: RunSummary, *folders: RunFolder) -> tuple[list[EqualRun], tuple[str, ...]]:
    """Other runs equal to the reference, from the folders that the two runs lie in, and what was passed over there."""
    from orchestrator.analysis.history import equal_runs, read_stored
    from orchestrator.results.folder import runs

    compared = {folder.path.resolve() for folder in folders}
    roots = dict.fromkeys(path.parent for path in compared)
    found = [folder for root in roots for folder in runs(root)[-_RUNS_READ:]]
    stored = read_stored(folder for folder in found if folder.path.resolve() not in compared)
    return equal_runs(old, stored.summaries, without=[new.run_id]), stored.passed_over()


def _print(comparison: RunComparison) -> None:
    turned = "; of throughput the ratio is that of times per request" if comparison.statistic == "throughput" else ""
    console.result(
        f"{comparison.of} against {comparison.reference}, by {comparison.statistic}; above 1 is slower{turned}"
    )
    if comparison.model:
        console.result(comparison.model)
    group = None
    for row in comparison.rows:
        if row.group != group:
            group = row.group
            console.result(console.style(group, "bold"))
        _print_row(row)
    if any(row.value is not None for row in comparison.rows):
        console.result(
            "  The ratio is the geometric mean over blocks, and so are the numbers in brackets; "
            "of latencies the report shows the same."
        )
    for difference in comparison.differences:
        console.result(f"  differs: {difference}")


def _print_row(row: Row) -> None:
    from orchestrator.analysis import words

    ratio = "   -" if row.ratio is None else words.factor(row.ratio, 3)
    interval = "" if row.interval is None else " to ".join(words.bounds(row.interval, 3))
    verdict = console.style(f"{row.verdict:<12}", _STYLES[row.verdict])
    console.result(f"  {verdict} {ratio:>6}  {interval:<16}  {row.label}{_values(row)}: {row.why}")
    indent = " " * 15
    if row.overhead:
        low, high = row.overhead.interval
        found = f"{row.overhead.ratio:.3f}  {low:.3f} to {high:.3f}"
        console.result(f"{indent}{found}  above the tcp floor: {row.overhead.verdict}")
    for text in (*(doubt for doubt in row.doubts if doubt not in row.why), *row.notes):
        console.result(f"{indent}{text}")


def _values(row: Row) -> str:
    from orchestrator.analysis import words

    if row.value is None or row.reference_value is None:
        return ""
    if row.statistic == "throughput":
        return f" ({row.reference_value:,.0f}/s -> {row.value:,.0f}/s)"
    return f" ({words.ms(row.reference_value)} -> {words.ms(row.value)})"


def _share(text: str) -> float:
    """`5%` or `0.05` as 0.05; UsageError for anything else, and for a bare 5, which is hardly meant as 500 %."""
    from orchestrator.errors import UsageError

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
        raise UsageError(f"--fail-if-slower {text!r} is not a share", hint="write 5% or 0.05")
    return share
