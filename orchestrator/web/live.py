"""A run while it happens: a page that follows it, the events that the page follows, and the same for programs.

However many people watch a run, its journal is looked at once a second, and by nobody when nobody watches.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from orchestrator.analysis import words
from orchestrator.report.page import shown as visible
from orchestrator.results.folder import RunFolder
from orchestrator.results.names import is_run, run_folders
from orchestrator.web.context import context
from orchestrator.web.progress import ENDED, LEAST_BETWEEN_LOOKS_S, Reader, Row, View
from orchestrator.web.refused import Refused

router = APIRouter()

MOST_VIEWERS = 32
KEEP_ALIVE_S = 15.0
MOST_ROWS = 100
_MOST_READERS = 16
_LIST_FRESH_S = 2.0
_AGAIN_S = 10
_TOO_MANY = f"{MOST_VIEWERS} pages follow runs already, which is the most at once"
_MEANWHILE = (
    "close one of them and load this page again; without it the page shows how the run stands when it is loaded"
)


class Follower:
    """Looks at a run once a second while somebody watches it."""

    def __init__(self, reader: Reader, view: View) -> None:
        self.view = view
        self.changed = asyncio.Event()
        self.viewers = 0
        self._reader = reader
        self._task: asyncio.Task[None] | None = None

    def join(self) -> None:
        """Somebody more watches."""
        self.viewers += 1
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._follow())

    def leave(self) -> None:
        """Somebody watches no longer."""
        self.viewers -= 1
        if not self.viewers and self._task is not None:
            self._task.cancel()

    async def _follow(self) -> None:
        while True:
            view = await run_in_threadpool(self._reader.look)
            is_news = _place(view) != _place(self.view)
            self.view = view
            if is_news:
                changed, self.changed = self.changed, asyncio.Event()
                changed.set()
            await asyncio.sleep(LEAST_BETWEEN_LOOKS_S)


class Watching:
    """The runs that somebody looks at, each read by one reader whoever asks."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._readers: OrderedDict[str, Reader] = OrderedDict()
        self._followers: dict[str, Follower] = {}
        self._listed: tuple[float, list[str]] = (float("-inf"), [])
        self._listing = asyncio.Lock()
        self.viewers = 0

    def reader(self, run: str) -> Reader:
        """That of a run; Refused with 404 where no folder of that very name lies under the results."""
        path = folder_of(self._results, run)
        reader = self._readers.get(run)
        if reader is None:
            reader = self._readers[run] = Reader(RunFolder(path))
            while len(self._readers) > _MOST_READERS:
                self._readers.popitem(last=False)
        self._readers.move_to_end(run)
        return reader

    async def seat(self, run: str) -> Seat:
        """A place to watch a run from; Refused with 503 when all are taken, and as `reader`."""
        reader = self.reader(run)
        self._require_room()
        view = await run_in_threadpool(reader.look)
        self._require_room()
        follower = self._followers.setdefault(run, Follower(reader, view))
        self.viewers += 1
        follower.join()
        return Seat(self, run, follower)

    def _require_room(self) -> None:
        if self.viewers >= MOST_VIEWERS:
            raise Refused(503, _TOO_MANY, hint=_MEANWHILE, again_s=_AGAIN_S)

    def left(self, run: str, follower: Follower) -> None:
        """Somebody gave up a seat."""
        self.viewers -= 1
        follower.leave()
        if not follower.viewers and self._followers.get(run) is follower:
            del self._followers[run]

    async def going(self, now_s: float) -> list[View]:
        """Every run that a process works on, oldest first; which those are is looked up every two seconds at most."""
        async with self._listing:  # who comes while it is looked up waits for it, and looks up nothing
            if now_s - self._listed[0] >= _LIST_FRESH_S:
                self._listed = (now_s, await run_in_threadpool(_held, self._results))
        views = []
        for run in self._listed[1]:
            with suppress(Refused):  # it was discarded meanwhile
                views.append(await run_in_threadpool(self.reader(run).look))
        return [view for view in views if view.is_going]


class Seat:
    """What one viewer holds while it watches."""

    def __init__(self, watching: Watching, run: str, follower: Follower) -> None:
        self._watching, self._run, self.follower = watching, run, follower

    def give_up(self) -> None:
        """The viewer is gone."""
        self._watching.left(self._run, self.follower)


def _held(results: Path) -> list[str]:
    return [path.name for path in run_folders(results) if RunFolder(path).is_in_progress]


def folder_of(results: Path, run: str) -> Path:
    """The folder of the run of that very id; Refused with 404 for any other name, and for a link."""
    path = results / run
    is_name = bool(run) and run.isprintable() and not run.startswith(".") and "/" not in run and "\\" not in run
    if not is_name or len(run) > 200 or path.is_symlink() or not is_run(path):
        raise Refused(404, f"there is no run {run[:80]!r} here", hint="the list of runs has those there are")
    return path


def watching(request: Request) -> Watching:
    """That of the application which answers."""
    state = request.app.state
    if not hasattr(state, "watching"):
        state.watching = Watching(context(request).workspace.results)
    found: Watching = state.watching
    return found


@router.get("/live", response_class=HTMLResponse, include_in_schema=False)
async def overview(request: Request) -> Response:
    """The runs in progress, each with how far it has come."""
    found = context(request)
    now_s = found.clock.monotonic_s()
    runs = [document(view, now_s) for view in await watching(request).going(now_s)]
    return found.templates.TemplateResponse(request, "live_runs.html", {"runs": runs})


@router.get("/live/{run}", response_class=HTMLResponse, include_in_schema=False)
async def page(request: Request, run: str) -> Response:
    """How a run stands, kept up to date by a script where there are scripts, and by loading it again where not."""
    found = context(request)
    view = await run_in_threadpool(watching(request).reader(run).look)
    shown = document(view, found.clock.monotonic_s())
    values = {"shown": shown, "ended": ENDED}
    return found.templates.TemplateResponse(request, "live.html", values)


@router.get("/live/{run}/events", include_in_schema=False)
async def events(request: Request, run: str) -> Response:
    """Server-sent events: `now` with what is new since the last id, and `end` when nobody works on the run any more."""
    seat = await watching(request).seat(run)
    last = request.headers.get("last-event-id", "")
    return _Events(seat, _events(seat.follower, last, context(request).clock.monotonic_s))


@router.get("/api/live")
async def api_list(request: Request) -> dict[str, Any]:
    """Every run in progress: how far it has come, how long it still takes, and its cells with their latencies so far."""
    now_s = context(request).clock.monotonic_s()
    return {"runs": [document(view, now_s) for view in await watching(request).going(now_s)]}


@router.get("/api/live/{run}")
async def api_run(request: Request, run: str) -> dict[str, Any]:
    """How a run stands, in progress or not, with the latency of each trial that has ended (at most the newest 2,000)."""
    view = await run_in_threadpool(watching(request).reader(run).look)
    return {**document(view, context(request).clock.monotonic_s()), "points": [asdict(point) for point in view.points]}


class _Events(EventSourceResponse):
    """A stream that gives its seat up when it ends, however it does."""

    def __init__(self, seat: Seat, content: AsyncIterator[bytes]) -> None:
        super().__init__(content, headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        self._seat = seat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except asyncio.CancelledError:  # the server ends, and waits for no stream: this one ends as it should
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._seat.give_up()


async def _events(follower: Follower, last: str, now_s: Callable[[], float]) -> AsyncIterator[bytes]:
    place: object = None
    while True:
        view, changed = follower.view, follower.changed
        if _place(view) != place:
            news = {**document(view, now_s()), **_news(view, last)}
            place, last = _place(view), event_id(view)
            yield format_sse_event(data_str=json.dumps(news), event="now", id=last)
        if not view.is_going:
            yield format_sse_event(data_str=json.dumps({"state": view.state}), event="end", id=last)
            return
        try:
            async with asyncio.timeout(KEEP_ALIVE_S):
                await changed.wait()
        except TimeoutError:
            yield KEEPALIVE_COMMENT


def _place(view: View) -> tuple[int, int, str, str]:
    return view.epoch, view.at, view.state, view.sentence if view.state in ("unreadable", "gone") else ""


def event_id(view: View) -> str:
    """What a viewer has seen: which trials count, how many it has, and where the journal ended."""
    return f"{view.epoch}.{view.counted}.{view.at}"


def _news(view: View, last: str) -> dict[str, Any]:
    """The points that whoever has seen `last` does not have; all of them where those it has no longer count."""
    epoch, _, rest = last.partition(".")
    seen = rest.partition(".")[0]
    is_known = epoch == str(view.epoch) and seen.isascii() and seen.isdigit() and len(seen) < 10
    had = int(seen) if is_known else 0
    if not view.points_before <= had <= view.counted:
        had = view.points_before
        is_known = False
    return {
        "is_anew": not is_known,
        "points": [[p.trial, p.row, p.median_ms, p.is_ok] for p in view.points[had - view.points_before :]],
    }


def document(view: View, now_s: float) -> dict[str, Any]:
    """A run for programs and for the page's script: figures, and the words that the page shows, nothing unseen in them."""
    progress = view.progress
    left_s = None if progress is None or progress.left_s is None else progress.left_s
    if left_s is not None:
        left_s = max(0.0, left_s - max(0.0, now_s - view.made_s))
    return {
        "run": view.run,
        "state": view.state,
        "is_stopping": view.is_stopping,
        "sentence": visible(view.sentence),
        "experiment": "" if progress is None else visible(progress.experiment),
        "question": visible(view.question),
        "since": "" if progress is None else progress.since,
        "stage": "" if progress is None else progress.stage,
        "cell": "" if progress is None or not view.is_going else visible(progress.cell),
        "trials": 0 if progress is None else progress.trials,
        "done": 0 if progress is None else progress.done,
        "blocks": 0 if progress is None else progress.blocks,
        "blocks_done": 0 if progress is None else progress.blocks_done,
        "left_s": left_s if view.is_going and not view.is_stopping else None,
        "cells": [_cell(row) for row in view.rows[:MOST_ROWS]],
        "more_cells": max(0, len(view.rows) - MOST_ROWS),
        "warnings": list(map(visible, view.warnings)),
        "links": {"page": f"/live/{quote(view.run, safe='')}", "run": f"/runs/{quote(view.run, safe='')}"},
    }


def _cell(row: Row) -> dict[str, Any]:
    figures = row.median_ms, row.least_ms, row.most_ms
    median, least, most = ("" if of is None else words.ms(of) for of in figures)
    return {
        **asdict(row),
        "label": visible(row.label),
        "median": median,
        "range": f"{least} to {most}" if row.done > 1 and least else "",
    }
