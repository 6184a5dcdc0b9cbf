"""The verb `runs merge`: one experiment on several machines."""

from __future__ import annotations

import hashlib
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.shared_options import AsJson
from orchestrator.cli.tables import table

if TYPE_CHECKING:
    from orchestrator.findings.summary import RunSummary
    from orchestrator.wording.merged import Median, Merged, Ratio, RatioRow


def merge(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Reports (FILE.html), run ids or paths: a machine's run each.")
    ],
    out: Annotated[Path | None, typer.Option(help="Write the page to this file instead.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs of one experiment on several machines: medians, ratios, and whether they agree.

    One page is written with them; no samples of two machines are pooled.
    """
    from orchestrator.report.groups import anchor
    from orchestrator.report.verb_pages import write_merge_page
    from orchestrator.wording.merged import merge

    console.as_json = as_json
    read = [_summary(run) for run in runs]
    summaries = [summary for summary, _ in read]
    merged = merge(summaries, [is_part for _, is_part in read])
    which = hashlib.sha256("\0".join(machine.run_id for machine in merged.machines).encode()).hexdigest()[:12]
    path = write_merge_page(
        merged, summaries, out or WORKSPACE.reports / f"merged-{anchor(merged.name)[:60]}-{which}.html"
    )
    _print(merged)
    console.result(f"page  {path}")
    console.emit({**merged.to_dict(), "page": str(path)})


def _summary(run: str) -> tuple[RunSummary, bool]:
    """The summary of a run folder or of what a report carries, and whether it is of samples that are not all there."""
    from orchestrator.cli.keeping import judged
    from orchestrator.report.dataset.block import is_page, read_page
    from orchestrator.results.folder import RunFolder

    if not is_page(run):
        return judged(RunFolder.open(run, root=WORKSPACE.results)), False
    dataset = read_page(Path(run)).dataset
    return dataset.summary(), not dataset.is_whole


def _print(merged: Merged) -> None:
    for sentence in merged.answer:
        console.result(sentence)
    for note in merged.notes:
        console.warning(note)
    names = [machine.name for machine in merged.machines]
    for machine in merged.machines:
        facts = ", ".join(f"{what} {value}" for what, value in machine.facts[:4])
        console.result(f"  {machine.name}  {machine.run_id}  {facts}")
    for group, ratios in groupby(merged.ratios, key=lambda row: row.group):
        console.result(console.style(f"{group}: to the reference within each machine, above 1 is slower", "bold"))
        rows = [[row.stack, *map(_ratio, row.ratios), _said(row)] for row in ratios]
        for line in table(["stack", *names, "do they agree?"], rows):
            console.result(f"  {line}")
    for setting, cells in groupby(merged.cells, key=lambda row: row.setting):
        console.result(console.style(f"{setting}: median on each machine", "bold"))
        for line in table(["stack", *names], [[row.stack, *map(_median, row.medians)] for row in cells]):
            console.result(f"  {line}")


def _said(row: RatioRow) -> str:
    return f"DIFFER: {row.said}" if row.agreement == "differ" else row.said


def _ratio(of: Ratio | None) -> str:
    from orchestrator import quantities

    if of is None or of.ratio is None:
        return "-"
    bounds = "" if of.interval is None else f" [{' - '.join(quantities.ratio_bounds(of.interval))}]"
    return f"{quantities.ratio(of.ratio)}{bounds}"


def _median(of: Median | None) -> str:
    from orchestrator import quantities

    if of is None or of.value is None:
        return "-"
    bounds = "" if of.interval is None else f" [{quantities.ms(of.interval[0])} - {quantities.ms(of.interval[1])}]"
    return f"{quantities.ms(of.value)}{bounds}{' INVALID' if of.failed else ''}"
