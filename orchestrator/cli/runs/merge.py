"""The verb `runs merge`: one experiment on several machines."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.shared_options import AsJson

if TYPE_CHECKING:
    from orchestrator.findings.summary import RunSummary
    from orchestrator.wording.merged import Merged


def merge(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Reports (FILE.html), run ids or paths: a machine's run each.")
    ],
    out: Annotated[Path | None, typer.Option(help="Write the page to this file instead.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs of one experiment on several machines: whether they agree, and a page with medians and ratios.

    No samples of two machines are pooled.
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
