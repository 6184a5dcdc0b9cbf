"""What every page works with: the workspace, its index, its judged runs, and the templates."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from starlette.responses import Response

from orchestrator.errors import UsageError
from orchestrator.exports.findings import JudgedRun
from orchestrator.history import keep
from orchestrator.history.index import Index
from orchestrator.results.folder import RunFolder
from orchestrator.results.names import is_run
from orchestrator.summarise import summarise
from orchestrator.web.live_view import Reader
from orchestrator.web.templating import templates
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

    def fragment(self, template: str, **values: Any) -> str:
        """Return a part of a page as HTML."""
        return self._templates.get_template(template).render(values)

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
