"""Compare two runs, or the stacks of one: ratios with intervals, and what they show.

Exit codes with --fail-if-slower: 0 surely not slower, 1 surely slower, 8 neither can be said.
Runs that cannot be compared end with 2, with or without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged

if TYPE_CHECKING:
    from orchestrator.analysis.across import Row, RunComparison
    from orchestrator.analysis.cost_changes import CostChange

_IN_PASSING = "together with what else differs: "  # a row's note of what the list above the rows has in full

_STYLES = {
    "improved": "green",
    "faster": "green",
    "regressed": "red",
    "slower": "red",
    "less": "green",
    "more": "red",
    "unchanged": "dim",
    "tie": "dim",
    "not resolved": "yellow",
    "cannot tell": "yellow",
}


def command(
    run: Annotated[str, typer.Argument(help="Run id, its beginning, a path, or `latest`.")],
    reference: Annotated[
        str | None, typer.Argument(help="The run to compare with; by default, the run's own stacks are compared.")
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
    from orchestrator.analysis.history import beside
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    limit = None if fail_if_slower is None else _share(fail_if_slower)
    folder = RunFolder.open(run, root=WORKSPACE.results)
    new = judged(folder)
    if reference is None:
        comparison = compare_within(new, statistic)
    else:
        other = RunFolder.open(reference, root=WORKSPACE.results)
        old = judged(other)
        history, passed_over = beside(new, old, folder, other)
        comparison = compare_runs(new, old, statistic, history, passed_over)
    console.emit(comparison.to_dict())
    _print(comparison)
    if limit is not None:
        console.as_json = False  # stdout holds its one document already
        require_not_slower(comparison, limit)


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
        if not _is_among(text, comparison.differences):
            console.result(f"  in every row: {text}")
    group = None
    for row in comparison.rows:
        if row.group != group:
            group = row.group
            console.result(console.style(group, "bold"))
        _print_row(row, comparison.margin, comparison.in_all_rows)
    if any(row.value is not None for row in comparison.rows):
        console.result(
            "  The ratio is the geometric mean over blocks, and so are the numbers in brackets; "
            "of latencies the report shows the same."
        )
    if any(row.costs for row in comparison.rows):
        console.result(
            "  Below a row is what its requests cost: CPU time, bytes, packets of 1,000 of them; peak memory of a process."
        )


def _is_among(text: str, differences: tuple[str, ...]) -> bool:
    """Whether the list of differences says it already: a note names the first of them in passing."""
    return text in differences or text.startswith(_IN_PASSING)


def _print_row(row: Row, margin: float, said: tuple[str, ...]) -> None:
    """The row, and below it what is particular to it: what holds for every row was `said` above them."""
    from orchestrator.analysis import words
    from orchestrator.analysis.said_once import kind_of

    ratio = "   -" if row.ratio is None else words.factor(row.ratio)
    interval = "" if row.interval is None else " to ".join(words.bounds(row.interval, margin))
    verdict = console.style(f"{row.verdict:<12}", _STYLES[row.verdict])
    console.result(f"  {verdict} {ratio:>6}  {interval:<16}  {row.label}{_values(row)}: {row.why}")
    indent = " " * 15
    if row.overhead:
        found = f"{words.factor(row.overhead.ratio):>6}  {' to '.join(words.bounds(row.overhead.interval, margin)):<16}"
        console.result(f"{indent}{found}  above the tcp floor: {row.overhead.verdict}")
    for cost in row.costs:
        console.result(indent + _cost(cost, margin))
    kinds = {kind_of(text) for text in said}
    doubts = [text for text in row.doubts if kind_of(text) not in kinds]
    notes = [text for text in row.notes if kind_of(text) not in kinds and not text.startswith(_IN_PASSING)]
    for text in _merged((*(f"but {doubt}" if row.verdict == "cannot tell" else doubt for doubt in doubts), *notes)):
        console.result(f"{indent}{text}")


def _cost(cost: CostChange, margin: float) -> str:
    """Ratio, interval, both values and the verdict, in the columns of a row."""
    from orchestrator.analysis import words
    from orchestrator.analysis.cost import COSTS

    ratio = "-" if cost.ratio is None else words.factor(cost.ratio)
    interval = "" if cost.interval is None else " to ".join(words.bounds(cost.interval, margin))
    values = ("-" if v is None else words.cost(cost.quantity, v) for v in (cost.reference_value, cost.value))
    verdict = console.style(cost.verdict, _STYLES[cost.verdict])
    return f"{ratio:>6}  {interval:<16}  {COSTS[cost.quantity]} ({' -> '.join(values)}): {verdict}"


def _merged(texts: Iterable[str]) -> Iterator[str]:
    """Texts that begin alike, up to a colon, as one: the checks that warn in a run."""
    by_beginning: dict[str, list[str]] = {}
    for text in texts:
        beginning, _, rest = text.partition(": ")
        by_beginning.setdefault(beginning, []).append(rest)
    for beginning, rests in by_beginning.items():
        yield f"{beginning}: {', '.join(rests)}" if any(rests) else beginning


def _values(row: Row) -> str:
    from orchestrator.analysis import words

    if row.value is None or row.reference_value is None:
        return ""
    if row.statistic == "throughput":
        return f" ({words.rate(row.reference_value)}/s -> {words.rate(row.value)}/s)"
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
