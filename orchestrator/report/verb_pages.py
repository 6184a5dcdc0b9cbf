"""The pages of `orch audit --html` and `orch runs merge`, in the report's own style, readable without JavaScript."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.findings.summary import RunSummary
from orchestrator.quantities import listed
from orchestrator.report.check_groups import marks
from orchestrator.report.page import render_page, write_page
from orchestrator.wording.merged import Merged

if TYPE_CHECKING:
    from orchestrator.audit.examine import AuditResult
    from orchestrator.audit.model import AuditFile


def render_audit_page(file: AuditFile, result: AuditResult) -> str:
    """The page as text; the same assessments give the same bytes."""
    return render_page("audit.html", charts=False, title=f"Audit: {result.title}", file=file, result=result)


def write_audit_page(file: AuditFile, result: AuditResult, path: Path) -> Path:
    """Write the page, whole or not at all; UsageError when the place cannot be written to."""
    return write_page(render_audit_page(file, result), path)


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
    )


def write_merge_page(merged: Merged, runs: Sequence[RunSummary], path: Path) -> Path:
    """Write the page, whole or not at all; UsageError when the place cannot be written to."""
    return write_page(render_merge_page(merged, runs), path)
