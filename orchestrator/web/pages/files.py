"""What a run leaves as a file: its report, and exports."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from orchestrator.exports.formats import chosen
from orchestrator.exports.judged_run import JudgedRun, file_name
from orchestrator.report import default_path
from orchestrator.report.stored import report_of
from orchestrator.results.folder import RunFolder
from orchestrator.web.context import Context, context
from orchestrator.web.judged import Judged, path_of
from orchestrator.web.refused import Refused

router = APIRouter(include_in_schema=False)
# A report has scripts of its own: it lives in an origin of its own, which can ask this page, or anybody, for nothing.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_MANIFEST = "manifest.json"
_AGAIN_S = 30


def report(of: Context, run: str) -> Path:
    """The run's report, written where there is none, or the run is newer than it; errors as `orch report`.

    Refused while the run is in progress: it writes its own when it ends, which one of fewer trials must not replace.
    """
    folder = RunFolder(path_of(of.workspace, run))
    if folder.is_in_progress:
        raise Refused(
            503,
            f"run {folder.id} is still in progress: its report is made when it ends",
            hint=f"/live/{folder.id} follows it",
            again_s=_AGAIN_S,
        )
    found = of.judged.judged(run)
    there = report_of(found.folder, of.workspace.reports)
    if there is not None and _is_newer(there, found.folder.path / _MANIFEST):
        return there
    from orchestrator.report.dataset.made import write_report  # which imports Plotly

    path = default_path(found.summary, of.workspace.reports, found.folder.origin())
    return write_report(found.folder, path, summary=found.summary)


def _is_newer(there: Path, than: Path) -> bool:
    try:
        return there.stat().st_mtime_ns >= than.stat().st_mtime_ns
    except OSError:
        return False


def export(of: Context, run: str, name: str, *, raw: bool) -> tuple[Path, Path]:
    """An export in a folder of its own, and that folder, which is to be removed; errors as `orch export`.

    What is a folder comes as one ZIP file.
    """
    how = chosen(name, None, raw=raw)
    found = of.judged.judged(run)
    runs = [_exported(of, found)]
    folder = Path(tempfile.mkdtemp(prefix="orch-export-"))
    try:
        is_dataset = raw and how.is_dataset
        stem = f"{file_name(runs)}{'-raw' if raw else ''}"
        path = folder / f"{stem}{'' if is_dataset else how.suffix}"
        how.write(runs, path, raw=raw)
        if is_dataset:
            path = Path(shutil.make_archive(str(folder / f"{stem}-{name}"), "zip", root_dir=folder, base_dir=path.name))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return path, folder


def _exported(of: Context, found: Judged) -> JudgedRun:
    return JudgedRun(folder=found.folder, summary=found.summary, report=report_of(found.folder, of.workspace.reports))


@router.get("/runs/{run}/report")
async def get_report(request: Request, run: str, download: bool = False) -> Response:
    """The report, as a page in a sandbox, or as a file."""
    of = context(request)
    path = await of.work.heavy(report, of, run)
    headers = {"content-security-policy": REPORT_POLICY}
    how = "attachment" if download else "inline"
    return FileResponse(path, media_type="text/html", filename=path.name, content_disposition_type=how, headers=headers)


@router.get("/runs/{run}/export")
async def get_export(
    request: Request,
    run: str,
    format: Annotated[str, Query(max_length=20)] = "csv",  # noqa: A002 - the parameter's name
    raw: bool = False,
) -> Response:
    """A file of the run's cells, or of its samples."""
    of = context(request)
    path, folder = await of.work.heavy(export, of, run, format, raw=raw)
    gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(path, media_type="application/octet-stream", filename=path.name, background=gone)
