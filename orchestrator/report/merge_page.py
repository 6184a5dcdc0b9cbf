"""The page of `orch merge`: several machines side by side, in the report's own style, readable without JavaScript."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from orchestrator.analysis.summary import RunSummary
from orchestrator.analysis.words import listed, ms
from orchestrator.report.every_page import marks
from orchestrator.report.page import render_page, write_page
from orchestrator.wording.merged import Merged


def render_merge_page(merged: Merged, runs: Sequence[RunSummary]) -> str:
    """The page as text; the same runs give the same bytes."""
    who: dict[str, list[str]] = {}
    for machine, run in zip(merged.machines, runs, strict=True):
        for text in marks(run):
            who.setdefault(text, []).append(machine.name)
    said = [f"{listed(names)}: {text}" for text, names in who.items()]
    return render_page(
        "merge.html",
        charts=False,
        every_page=said,
        title=f"{merged.name} on {len(merged.machines)} machines",
        merged=merged,
        settings=[(setting, list(rows)) for setting, rows in groupby(merged.cells, key=lambda row: row.setting)],
        compared=[(group, list(rows)) for group, rows in groupby(merged.ratios, key=lambda row: row.group)],
        ms=ms,
    )


def write_merge_page(merged: Merged, runs: Sequence[RunSummary], path: Path) -> Path:
    """Write the page, whole or not at all; UsageError when the place cannot be written to."""
    return write_page(render_merge_page(merged, runs), path)
