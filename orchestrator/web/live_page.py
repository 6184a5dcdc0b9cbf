"""The page `/live`: the runs in progress, and one of them, kept up to date by server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from orchestrator.measure.progress import in_progress
from orchestrator.report.page import shown
from orchestrator.web.live_view import LOOK_S, Reader, State, View
from orchestrator.web.site import Here, Site

router = APIRouter(prefix="/live")
MOST_ROWS = 100
_ENDED: dict[State, str] = {
    "stopping": "The run is ending: checks and report are made, and everything that it started ends.",
    "complete": "The run is complete.",
    "interrupted": "The run was interrupted before its schedule ended. Its finished blocks are stored.",
    "killed": "The run was killed: its process is gone. Its finished blocks are stored.",
    "gone": "The run was refused before it measured anything, and left no folder.",
}


def _reader(site: Here, run: str) -> Reader:
    return site.reader(run)


Follow = Annotated[Reader, Depends(_reader)]


@router.get("")
def runs(request: Request, site: Here) -> Response:
    """Return the runs in progress, each with how far it has come."""
    return site.page(request, "live_runs.html", runs=in_progress(site.workspace.results))


@router.get("/{run}")
def live(request: Request, site: Here, reader: Follow) -> Response:
    """Return how a run stands; the page's script keeps it up to date."""
    view = reader.look()
    return site.page(request, "live.html", view=view, **state_values(view))


@router.get("/{run}/events", response_class=EventSourceResponse)
async def events(request: Request, site: Here, reader: Follow) -> AsyncIterator[ServerSentEvent]:
    """Send how the run stands, whenever that changes, until no process works on it."""
    sent = None
    while not request.app.state.is_ending():
        view = await run_in_threadpool(reader.look)
        if sent != (sent := (view.bytes_read, view.state)):
            yield ServerSentEvent(data=await run_in_threadpool(document, site, view))
        if not view.is_going:
            return
        await asyncio.sleep(LOOK_S)


def document(site: Site, view: View) -> dict[str, Any]:
    """Return an event: whether more will follow, and what the page's script puts into the page."""
    values = state_values(view)
    return {
        "is_going": view.is_going,
        "title": shown(values["title"]),
        "sentence": shown(values["sentence"]),
        "html": site.fragment("_live.html", view=view, **values),
    }


def state_values(view: View) -> dict[str, Any]:
    """Return what the templates need beside the view."""
    progress = view.progress
    name = view.run if progress is None else progress.experiment
    return {
        "name": name,
        "title": name if progress is None else f"{progress.done}/{progress.trials} {name}",
        "sentence": _sentence(view),
        "rows": view.rows[:MOST_ROWS],
    }


def _sentence(view: View) -> str:
    if view.state == "unreadable":
        return f"The journal of the run cannot be read: {view.trouble}"
    if view.progress is None:
        return _ENDED[view.state]
    if view.state == "running":
        words = view.progress.sentence()
        return f"{words[:1].upper()}{words[1:]}."
    return f"{_ENDED[view.state]} {view.progress.done} of {view.progress.trials} trials are done."
