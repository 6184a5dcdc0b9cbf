"""HTML: the report of one run; of several a page with their answers and checks, links to their reports, and all cells."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from orchestrator.exports.judged_run import JudgedRun
from orchestrator.exports.small_table import small_table
from orchestrator.report.dataset.made import write_report
from orchestrator.report.page import render_page, write_page


def write_summary(runs: Sequence[JudgedRun], path: Path) -> int:
    """One self-contained page; how many cells there are. UsageError when the place cannot be written to."""
    if len(runs) == 1:
        write_report(runs[0].folder, path, summary=runs[0].summary)
        return len(runs[0].summary.cells)
    table = small_table(runs)
    page = render_page(
        "runs.html",
        charts=False,
        title=f"{len(runs)} runs",
        runs=[{**run.about(), "link": _link(run, path)} for run in runs],
        table=table,
        columns=list(zip(table.heads, table.figures, strict=True)),
    )
    write_page(page, path)
    return len(table.rows)


def _link(run: JudgedRun, page: Path) -> str:
    """Where the run's report lies, as the page links to it; "" where there is none.

    Outside the working folder there is none either: the link would name folders.
    """
    here, folder = Path.cwd().resolve(), page.parent.resolve()
    if run.report is None or not all(path.is_relative_to(here) for path in (run.report.resolve(), folder)):
        return ""
    return quote(os.path.relpath(run.report.resolve(), folder))
