"""What the folder of a run in progress says: how far it has come, and the latency of each trial that has ended.

The journal alone is read, and of that only what was added since the last look. Samples are not touched: each trial's median
stands in the journal, where the run itself wrote it between two trials.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

from orchestrator.clock import SYSTEM, Clock
from orchestrator.errors import OrchError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.hosts.processes import Known, known
from orchestrator.measure.in_progress import InProgress, Steps, shown
from orchestrator.measure.interrupts import SESSION
from orchestrator.measure.labels import label
from orchestrator.results.derive import JournalState, shortened
from orchestrator.results.folder import RunFolder

State = Literal["running", "complete", "interrupted", "killed", "gone", "unreadable"]

LEAST_BETWEEN_LOOKS_S = 1.0
MOST_POINTS = 2_000
"""Trials whose latencies are drawn one by one, the newest."""
_TAKEN = {"begin", "resume", "block", "block-end", "trial", "warning", "end"}
_NS_PER_MS = 1e6
_FRESH_S = 10.0  # so long an estimate of the time left stands, where the journal adds nothing

ENDED: Mapping[State, str] = {
    "complete": "The run is complete.",
    "interrupted": "The run was interrupted before its schedule ended. What is finished is stored.",
    "killed": "The run was killed: its process is gone, and nobody works on it. What is finished is stored.",
    "gone": "The run was refused before anything was measured, and left no folder.",
}


@dataclass(frozen=True, kw_only=True)
class Point:
    """One trial that ended: `row` is its place in `View.rows`; `median_ms` is None where the journal has no figure."""

    trial: int  # its place in the schedule, from 1
    row: int
    median_ms: float | None
    is_ok: bool


@dataclass(frozen=True, kw_only=True)
class Row:
    """A cell in words; of its trials that count, the median and the range of their medians, ms."""

    label: str
    planned: int
    done: int = 0
    failed: int = 0
    median_ms: float | None = None
    least_ms: float | None = None
    most_ms: float | None = None


@dataclass(frozen=True, kw_only=True)
class View:
    """A run as it stands. `at` grows with its journal, and `epoch` when trials that were shown no longer count."""

    run: str
    state: State
    sentence: str
    question: str = ""
    progress: InProgress | None = None
    rows: tuple[Row, ...] = ()
    points: tuple[Point, ...] = ()  # those that count, in the order in which they ended; the newest `MOST_POINTS`
    points_before: int = 0  # so many more ended before those
    warnings: tuple[str, ...] = ()
    at: int = 0
    epoch: int = 0
    is_stopping: bool = False  # its journal has ended: checks and report are made, and what was started is taken down
    made_s: float = 0.0  # monotonic, when this was put together

    @property
    def is_going(self) -> bool:
        """Whether a process works on it."""
        return self.state == "running"

    @property
    def counted(self) -> int:
        """Trials that count, those too that are not among `points`."""
        return self.points_before + len(self.points)


@dataclass(frozen=True, kw_only=True)
class _Made:
    index: int
    block: int
    attempt: int
    cell: str
    is_ok: bool
    median_ms: float | None


@dataclass
class Reader:
    """Follows one run. `look` may be called by any number of threads: the folder is asked once a second at most."""

    folder: RunFolder
    clock: Clock = SYSTEM
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _view: View | None = None
    _looked_s: float = float("-inf")

    def __post_init__(self) -> None:
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._tail = self.folder.tail()
        self._journal, self._steps = JournalState(), Steps()
        self._plan: Plan | None = None
        self._labels: dict[str, str] = {}
        self._made: list[_Made] = []
        self._epoch = 0
        self._process: Known | None = None
        self._session: dict[str, Any] | None = None

    def look(self) -> View:
        """How the run stands, at most a second ago."""
        with self._lock:
            now_s = self.clock.monotonic_s()
            if self._view is None or now_s - self._looked_s >= LEAST_BETWEEN_LOOKS_S:
                self._view = self._looked()
                self._looked_s = self.clock.monotonic_s()
            return self._view

    def process(self) -> Known | None:
        """The process that said last that it works on the run; None when it is gone, or its id is another's by now."""
        with self._lock:
            return self._session_process()

    def _looked(self) -> View:
        try:
            is_new = self._read()
            state = self._state()
            if state != "running":  # what it wrote last may have come after the reading
                is_new = self._read() or is_new
                state = self._state()
            before = self._view
            is_fresh = before is not None and self.clock.monotonic_s() - before.made_s < _FRESH_S
            if before is not None and not is_new and before.state == state and (is_fresh or state != "running"):
                return before
            return self._made_view(state)
        except FileNotFoundError:
            self._begin_anew()
            return View(run=self.folder.id, state="gone", sentence=ENDED["gone"])
        except (OrchError, ValueError) as error:
            self._begin_anew()
            return self._unreadable(error)
        except OSError as error:  # too many open files, say: the next look may succeed
            return self._view or self._unreadable(error)

    def _unreadable(self, error: Exception) -> View:
        return View(run=self.folder.id, state="unreadable", sentence=f"How far it has come is not known: {error}")

    def _read(self) -> bool:
        is_new = False
        while events := self._tail.look():
            is_new = True
            for event in events:
                self._take(event)
        return is_new

    def _take(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        self._steps.take(event)
        if kind == SESSION:
            self._session = event
        elif kind == "block" and event.get("attempt"):
            self._epoch += 1
        elif kind == "trial":
            event = shortened(event)
        if kind in _TAKEN:
            self._journal.take(event)
        if kind == "trial":
            self._made.append(_made(event))

    def _state(self) -> State:
        """Whether somebody works on it, and if not, how it ended."""
        if self._journal.state == "running" and self._session_process() is not None:
            return "running"
        if self.folder.is_in_progress:
            return "running"
        return "killed" if self._journal.state == "running" else self._journal.state

    def _session_process(self) -> Known | None:
        if self._session is None:
            return None
        pid, started = self._session.get("pid"), self._session.get("started")
        if not isinstance(pid, int) or isinstance(pid, bool) or not 0 < pid < 1 << 31 or not started:
            return None
        process = known(pid)
        return process if process is not None and process.started == started else None

    def _made_view(self, state: State) -> View:
        plan = self._planned()
        places = {cell.id: place for place, cell in enumerate(plan.cells)}
        attempts = self._journal.attempts
        counted = [of for of in self._made if of.attempt == attempts.get(of.block, 0) and of.cell in places]
        progress = shown(self.folder.id, plan, self._journal, self._steps, self.clock)
        is_stopping = state == "running" and self._journal.state != "running"
        return View(
            run=self.folder.id,
            state=state,
            sentence=_sentence(state, progress, self._journal, is_stopping=is_stopping),
            question=plan.question,
            progress=progress,
            rows=self._rows(plan, counted),
            points=tuple(_point(made, places) for made in counted[-MOST_POINTS:]),
            points_before=max(0, len(counted) - MOST_POINTS),
            warnings=tuple(self._journal.warnings),
            at=self._tail.offset,
            epoch=self._epoch,
            is_stopping=is_stopping,
            made_s=self.clock.monotonic_s(),
        )

    def _planned(self) -> Plan:
        if self._plan is None:
            self._plan = self.folder.plan()
            self._labels = {cell.id: label(self._plan, cell) for cell in self._plan.cells}
        return self._plan

    def _rows(self, plan: Plan, counted: list[_Made]) -> tuple[Row, ...]:
        planned: dict[str, int] = {}
        for trial in plan.trials:
            planned[trial.cell] = planned.get(trial.cell, 0) + 1
        by_cell: dict[str, list[_Made]] = {}
        for made in counted:
            by_cell.setdefault(made.cell, []).append(made)
        return tuple(
            _row(self._labels[cell.id], planned.get(cell.id, 0), by_cell.get(cell.id, [])) for cell in plan.cells
        )


def _made(event: Mapping[str, Any]) -> _Made:
    """A trial that `JournalState.take` has found to be of its shape."""
    trial, median_ns = event["trial"], event.get("median_ns")
    return _Made(
        index=trial["index"],
        block=trial["block"],
        attempt=trial["attempt"],
        cell=trial["cell"],
        is_ok=trial["outcome"] == "ok",
        median_ms=None if median_ns is None else float(median_ns) / _NS_PER_MS,
    )


def _point(made: _Made, places: Mapping[str, int]) -> Point:
    return Point(trial=made.index + 1, row=places[made.cell], median_ms=made.median_ms, is_ok=made.is_ok)


def _row(words: str, planned: int, made: list[_Made]) -> Row:
    figures = [of.median_ms for of in made if of.median_ms is not None]
    return Row(
        label=words,
        planned=planned,
        done=len(made),
        failed=sum(not of.is_ok for of in made),
        median_ms=median(figures) if figures else None,
        least_ms=min(figures, default=None),
        most_ms=max(figures, default=None),
    )


def _sentence(state: State, progress: InProgress, journal: JournalState, *, is_stopping: bool) -> str:
    if state != "running":
        return f"{ENDED[state]} {progress.done} of {progress.trials} trials are done."
    if is_stopping and journal.state == "interrupted":
        return (
            f"The run is stopping after {progress.done} of {progress.trials} trials: what was started is being ended."
        )
    words = progress.sentence()
    return f"{words[:1].upper()}{words[1:]}."
