"""The verb `compare`: two runs, or the stacks of one; with `--fail-if-slower` its exit code judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchestrator import quantities
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged
from orchestrator.cli.shared_options import AsJson, Run, parsed
from orchestrator.cli.tables import coloured, table
from orchestrator.experiment.read.units import parse_margin

if TYPE_CHECKING:
    from orchestrator.between_runs.across import Row, RunComparison
    from orchestrator.findings.compare import Statistic
    from orchestrator.wording.gate import Judgement

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
        str | None, typer.Argument(help="The run to compare with; by default, the run's own stacks are compared.")
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
    as_json: AsJson = False,
) -> None:
    """Compare two runs, or the stacks of one: ratios with intervals, a row per cell; above 1 is slower.

    Runs that cannot be compared end with 2. `orch gate` measures two versions in one run, which detects far smaller changes.
    """
    from orchestrator.wording.gate import judge

    console.as_json = as_json
    limit = None if fail_if_slower in (None, "matters") else parsed("--fail-if-slower", parse_margin, fail_if_slower)
    comparison = _compared(run, reference, statistic)
    judgement = None if fail_if_slower is None else judge(comparison, comparison.margin if limit is None else limit)
    console.emit(_document(comparison, judgement))
    _print(comparison)
    if judgement is not None and judgement.error is not None:
        raise judgement.error


def _compared(run: str, reference: str | None, statistic: Statistic) -> RunComparison:
    from orchestrator.between_runs.across import compare_runs, compare_within
    from orchestrator.between_runs.measured_runs import beside
    from orchestrator.results.folder import RunFolder

    folder = RunFolder.open(run, root=WORKSPACE.results)
    new = judged(folder)
    if reference is None:
        return compare_within(new, statistic)
    other = RunFolder.open(reference, root=WORKSPACE.results)
    old = judged(other)
    return compare_runs(new, old, statistic, beside(new, old, folder, other))


def _document(comparison: RunComparison, judgement: Judgement | None) -> dict[str, Any]:
    document = asdict(comparison)
    if judgement is not None:
        document["gate"] = {
            "limit": judgement.limit,
            "overall": judgement.overall,
            "outcomes": list(judgement.outcomes),  # of each row
            "sentence": judgement.sentence,
        }
    return document


def _print(comparison: RunComparison) -> None:
    from orchestrator.wording.reasons import spread_source

    turned = "; of throughput the ratio is that of times per request" if comparison.statistic == "throughput" else ""
    console.result(
        f"{comparison.of} against {comparison.reference}, by {comparison.statistic}; above 1 is slower{turned}"
    )
    if source := spread_source(comparison):
        console.result(source)
    for difference in comparison.differences:
        console.result(f"  differs between the runs: {difference}")
    for text in comparison.in_all_rows:
        if text not in comparison.differences:
            console.result(f"  in every row: {text}")
    for group, rows in groupby(comparison.rows, key=lambda row: row.group):
        console.result(console.style(group, "bold"))
        lines = [line for row in rows for line in _rows(row, comparison.margin, comparison.in_all_rows)]
        console.lines(coloured(table(("", "", "", ""), lines), _STYLES))
    if any(row.costs for row in comparison.rows):
        console.result(
            "  Below a row is what its requests cost: CPU time, bytes, packets of 1,000 of them; peak memory."
        )


def _rows(row: Row, margin: float, in_all_rows: tuple[str, ...]) -> Iterator[tuple[str, str, str, str]]:
    """Yield verdict, ratio, interval and words of a row; then what is particular to it."""
    from orchestrator.findings.trial_values import COSTS
    from orchestrator.report.comparison import cost_values, values
    from orchestrator.wording.reasons import why

    def figures(ratio: float | None, interval: tuple[float, float] | None) -> tuple[str, str]:
        bounds = "" if interval is None else " to ".join(quantities.bounds(interval, margin))
        return "-" if ratio is None else quantities.factor(ratio), bounds

    both = values(row)
    absolute = "" if both is None else f" ({both[0]} -> {both[1]})"
    yield row.verdict, *figures(row.ratio, row.interval), f"{row.label}{absolute}: {why(row)}"
    for cost in row.costs:
        before, after = cost_values(cost)
        text = f"{COSTS[cost.statistic]} ({before} -> {after}): {cost.verdict}"
        yield "", *figures(cost.ratio, cost.interval), text
    but = "but " if row.verdict == "cannot tell" else ""
    for text in (*(f"{but}{text}" for text in row.doubts if text not in in_all_rows), *row.notes):
        if text not in in_all_rows:
            yield "", "", "", text
