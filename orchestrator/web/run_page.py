"""The pages of one run: its answer, figures, checks and conditions, its report, and its cells as a file."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from orchestrator.errors import OrchError
from orchestrator.exports.cell_columns import JudgedRun, file_name
from orchestrator.exports.writers import FORMATS, chosen
from orchestrator.history.record import Filters
from orchestrator.measure.progress import how_unfinished
from orchestrator.report import default_path, report_of, write_report
from orchestrator.report.charts import Charts
from orchestrator.report.check_groups import QUIET, check_groups
from orchestrator.report.groups import cell_names, groups
from orchestrator.web.site import Here
from orchestrator.wording.answer import answer
from orchestrator.wording.left_out import invalid_numbers, verdicts
from orchestrator.wording.notes import warnings
from orchestrator.wording.tables import result_tables

router = APIRouter(prefix="/runs/{run}")


@router.get("")
def run_page(request: Request, site: Here, run: str) -> Response:
    """Return the page of a run; one that cannot be judged has its row of the list, and the reason."""
    site.folder(run)
    with site.index() as index:
        listed = index.runs(Filters(run=run, limit=1))
    if not listed:
        raise HTTPException(404, f"run {run!r} was removed")
    values: dict[str, Any] = {"run": listed[0]}
    try:
        values |= _figures(site.judged(run))
    except OrchError as error:
        values |= {"summary": None, "trouble": error.message, "hint": error.hint}
    return site.page(request, "run.html", **values, formats=FORMATS.values())


def _figures(judged: JudgedRun) -> dict[str, Any]:
    summary, left = judged.summary, how_unfinished(judged.folder)
    return {
        "pictures": Charts(summary).first,
        "summary": summary,
        "answer": answer(summary),
        "invalid": invalid_numbers(summary),
        "remarks": (*([f"the run was interrupted: {left}"] if left else []), *warnings(summary)),
        "tables": result_tables.tables(summary, is_full=True),
        "checks": check_groups(summary),
        "quiet": QUIET,
        "check_counts": verdicts(summary.checks),
        "cell_names": cell_names(groups(summary), in_full=True),
    }


@router.get("/report")
def report(site: Here, run: str) -> Response:
    """Return the report, which is made where there is none or the run is newer; errors as `Site.judged`."""
    judged = site.judged(run)
    path = report_of(judged.folder, site.workspace.reports)
    if path is None or path.stat().st_mtime_ns <= (judged.folder.path / "manifest.json").stat().st_mtime_ns:
        path = write_report(judged.summary, default_path(judged.summary, site.workspace.reports))
    return FileResponse(path, media_type="text/html", filename=path.name, content_disposition_type="inline")


@router.get("/export")
def export(site: Here, run: str, format: Annotated[str, Query(max_length=20)] = "csv") -> Response:  # noqa: A002
    """Return the cells of a run as a file; UsageError for an unknown format, other errors as `Site.judged`."""
    form = chosen(format, None, raw=False)
    runs = [site.judged(run)]
    folder = Path(tempfile.mkdtemp(prefix="orch-export-"))
    removal = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    path = folder / f"{file_name(runs)}{form.suffix}"
    form.write(runs, path, False)
    return FileResponse(path, media_type="application/octet-stream", filename=path.name, background=removal)
