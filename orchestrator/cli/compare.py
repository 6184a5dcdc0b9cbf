"""Compare two runs, or the stacks of one: ratios with intervals, improved, regressed, or within noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchestrator.cli.console import console

if TYPE_CHECKING:
    from orchestrator.analysis.across import RunComparison

_STYLES = {"improved": "green", "regressed": "red", "within noise": "dim", "cannot tell": "yellow"}


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
        typer.Option(metavar="SHARE", help="Exit with 1 when something is surely slower, by more than this: 5%."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Print a row per cell; above 1 is slower."""
    from orchestrator.analysis.across import compare_runs, compare_within, require_no_regression
    from orchestrator.analysis.summarise import summarise
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    margin = None if fail_if_slower is None else _share(fail_if_slower)
    new = summarise(RunFolder.open(run))
    if reference is None:
        comparison = compare_within(new, statistic)
    else:
        comparison = compare_runs(new, summarise(RunFolder.open(reference)), statistic)
    console.emit(comparison.to_dict())
    _print(comparison)
    if margin is not None:
        console.as_json = False  # stdout holds its one document already
        require_no_regression(comparison, margin)


def _print(comparison: RunComparison) -> None:
    console.result(f"{comparison.of} against {comparison.reference}, by {comparison.statistic}; above 1 is slower")
    group = None
    for row in comparison.rows:
        if row.group != group:
            group = row.group
            console.result(console.style(group, "bold"))
        ratio = "   -" if row.ratio is None else f"{row.ratio:.3f}"
        interval = "" if row.interval is None else f"{row.interval[0]:.3f} to {row.interval[1]:.3f}"
        change = console.style(f"{row.change:<12}", _STYLES[row.change])
        console.result(f"  {change} {ratio:>6}  {interval:<16}  {row.label}: {row.why}")
    for difference in comparison.differences:
        console.result(f"  differs: {difference}")


def _share(text: str) -> float:
    """`5%` or `0.05` as 0.05; UsageError for anything else."""
    from orchestrator.errors import UsageError

    number, percent = text.strip().removesuffix("%").strip(), text.strip().endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 100:
        raise UsageError(f"--fail-if-slower {text!r} is not a share", hint="write 5% or 0.05")
    return share
