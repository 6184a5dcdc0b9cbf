"""What every page works with: the workspace, its index, its judged runs, and the templates."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import Depends, HTTPException, Request
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import Response

from orchestrator import quantities
from orchestrator.errors import UsageError
from orchestrator.exports.cell_columns import JudgedRun
from orchestrator.history import keep
from orchestrator.history.index import Index
from orchestrator.report import comparison, markup
from orchestrator.report.page import shown
from orchestrator.results.folder import RunFolder
from orchestrator.results.names import is_run
from orchestrator.summarise import summarise
from orchestrator.web.live_view import Reader
from orchestrator.wording.checks.sentences import explanation
from orchestrator.wording.reasons import spread_source, why
from orchestrator.workspace import Workspace

_MOST_JUDGED = 16
# Scripts and styles are files of this page; Plotly alone adds styles to it.
_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


class Site:
    """The folders that the pages show; safe to use in several threads."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._templates = templates()
        self._indexing, self._judging = threading.Lock(), threading.Lock()
        self._judged = lru_cache(_MOST_JUDGED)(_judge)
        self._readers: dict[str, Reader] = {}

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
        """Return a page made from a template."""
        headers = {"content-security-policy": _POLICY}
        return self._templates.TemplateResponse(request, template, values, status_code=status, headers=headers)

    @contextmanager
    def index(self) -> Iterator[Index]:
        """Open the index of runs, up to date."""
        with self._indexing, keep.history(self.workspace) as index:
            yield index

    def folder(self, run: str) -> RunFolder:
        """Return the folder of a run below `results`; HTTPException 404 where there is none."""
        results = self.workspace.results
        for path in results.iterdir() if results.is_dir() else ():
            if path.name == run and is_run(path):
                return RunFolder(path)
        raise HTTPException(404, f"there is no run {run!r}")

    def judged(self, run: str) -> JudgedRun:
        """Judge a run, and keep the result as long as its folder stays the same.

        Errors as `folder` and `summarise`; UsageError while the run is in progress: its samples are the run's alone.
        """
        folder = self.folder(run)
        if folder.is_in_progress:
            raise UsageError(f"run {run} is in progress: it is judged when it ends", hint=f"/live/{run} follows it")
        with self._judging:  # one at a time: a measurement beside it needs the CPUs
            return self._judged(folder.path, keep.signature(str(folder.path)))

    def reader(self, run: str) -> Reader:
        """Return what follows the journal of a run, the same for every viewer; HTTPException 404 as `folder`."""
        folder = self.folder(run)
        return self._readers.setdefault(run, Reader(folder))


def _judge(path: Path, _signature: str) -> JudgedRun:
    folder = RunFolder(path)
    return JudgedRun(folder=folder, summary=summarise(folder))


def site(request: Request) -> Site:
    """Return the site of the application that answers."""
    answering: Site = request.app.state.site
    return answering


Here = Annotated[Site, Depends(site)]


# ---- the templates, and the functions that they use


def templates() -> Jinja2Templates:
    """Return the templates; all text is escaped, and invisible characters appear as their codes."""
    environment = Environment(
        loader=PackageLoader("orchestrator.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.globals.update(
        run_at=run_at,
        live_at=live_at,
        query=query,
        count=quantities.count,
        percent=quantities.percent,
        ms=quantities.ms,
        minute=minute,
        prose=markup.prose,
        explanation=explanation,
        row_ratio=comparison.ratio,
        row_interval=comparison.interval,
        row_values=comparison.values,
        why=why,
        spread_source=spread_source,
    )
    return Jinja2Templates(env=environment, context_processors=[_here])


def run_at(run: str, below: str = "") -> str:
    """Return the address of a run's page, or of one below it.

    >>> run_at("a b", "report")
    '/runs/a%20b/report'
    """
    return f"/runs/{quote(run, safe='')}" + (f"/{below}" if below else "")


def live_at(run: str) -> str:
    """Return the address of the page that follows a run."""
    return f"/live/{quote(run, safe='')}"


def minute(stamp: str) -> str:
    """Return a time in UTC to the minute; a dash for no time.

    >>> minute("2026-11-21T10:11:12+00:00")
    '2026-11-21 10:11'
    """
    return stamp[:16].replace("T", " ") or markup.DASH


def query(**values: Any) -> str:
    """Return the query of an address, without empty values; a list gives a parameter for each entry.

    >>> query(run=["a", "b"], tag="")
    'run=a&run=b'
    """
    return urlencode({name: value for name, value in values.items() if value not in (None, "", [], ())}, doseq=True)


def _here(request: Request) -> dict[str, Any]:
    return {"here": request.url.path}


def _visible(value: Any) -> Any:
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
