"""A run's summary as one HTML file: pure rendering, then one atomic write."""

from __future__ import annotations

from pathlib import Path

from orchestrator.findings.summary import RunSummary
from orchestrator.report.check_groups import marks
from orchestrator.report.page import render_page, write_page
from orchestrator.report.view import Report


def write_report(summary: RunSummary, path: Path) -> Path:
    """Write a report without its samples to `path`, whole or not at all; UsageError when the place cannot be written to."""
    return write_page(render(summary), path)


def render(summary: RunSummary, samples_inside: int = 0) -> str:
    """Return the report's HTML; the same summary gives the same text."""
    return render_page(
        "report.html",
        title=f"{summary.name} · {summary.run_id}",
        charts=True,
        every_page=marks(summary),
        report=Report(summary=summary, samples_inside=samples_inside),
    )
