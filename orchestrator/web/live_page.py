"""The page `/live`: the runs in progress, and one of them, which the page's script fetches every two seconds."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from orchestrator.measure.progress import in_progress
from orchestrator.web.live_view import State, View
from orchestrator.web.site import Here

router = APIRouter(prefix="/live")
MOST_ROWS = 100
_ENDED: dict[State, str] = {
    "stopping": "The run is ending: checks and report are made, and everything that it started ends.",
    "complete": "The run is complete.",
    "interrupted": "The run was interrupted before its schedule ended. Its finished blocks are stored.",
    "killed": "The run was killed: its process is gone. Its finished blocks are stored.",
    "gone": "The run was refused before it measured anything, and left no folder.",
}


@router.get("")
def runs(request: Request, site: Here) -> Response:
    """Return the runs in progress, each with how far it has come."""
    return site.page(request, "live_runs.html", runs=in_progress(site.workspace.results))


@router.get("/{run}")
def live(request: Request, site: Here, run: str) -> Response:
    """Return the state of a run."""
    view = site.reader(run).look()
    progress = view.progress
    name = view.run if progress is None else progress.experiment
    return site.page(
        request,
        "live.html",
        view=view,
        name=name,
        title=name if progress is None else f"{progress.done}/{progress.trials} {name}",
        sentence=_sentence(view),
        rows=view.rows[:MOST_ROWS],
    )


def _sentence(view: View) -> str:
    if view.state == "unreadable":
        return f"The journal of the run cannot be read: {view.trouble}"
    if view.progress is None:
        return _ENDED[view.state]
    if view.state == "running":
        words = view.progress.sentence()
        return f"{words[:1].upper()}{words[1:]}."
    return f"{_ENDED[view.state]} {view.progress.done} of {view.progress.trials} trials are done."
