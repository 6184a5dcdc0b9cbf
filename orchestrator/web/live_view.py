"""How a run in progress stands: what its journal says, read on from where the last look ended.

Samples are not read: the run itself writes each trial's median into the journal, between two trials.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Literal

from orchestrator.clock import SYSTEM, Clock
from orchestrator.errors import OrchError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.measure.progress import InProgress, Steps, shown
from orchestrator.measure.run_context import label
from orchestrator.results.derive import JournalState, shortened
from orchestrator.results.folder import RunFolder
from orchestrator.results.journal import Tail
from orchestrator.results.names import JOURNAL

State = Literal["running", "stopping", "complete", "interrupted", "killed", "gone", "unreadable"]

LOOK_S = 1.0
"""The journal is read at most once in so many seconds, whatever the number of viewers."""
MOST_POINTS = 2_000
_TAKEN = {"begin", "resume", "block", "block-end", "trial", "warning", "end"}
_MS_PER_NS = 1e-6


@dataclass(frozen=True, kw_only=True)
class Point:
    """A trial that has ended: its place in the schedule from 1, its row in `View.rows`, its median in ms if it has one."""

    trial: int
    row: int
    median_ms: float | None
    is_ok: bool = True


@dataclass(frozen=True, kw_only=True)
class Row:
    """A cell: its trials, and the median and range of their medians in ms."""

    label: str
    planned: int
    done: int
    failed: int
    median_ms: float | None
    least_ms: float | None
    most_ms: float | None


@dataclass(frozen=True, kw_only=True)
class View:
    """A run as it stands. `bytes_read` of its journal; `progress` is None where the journal cannot be read (`trouble`).

    `points` are the newest `MOST_POINTS` trials that count, in the order in which they ended.
    """

    run: str
    state: State
    bytes_read: int = 0
    question: str = ""
    progress: InProgress | None = None
    rows: tuple[Row, ...] = ()
    points: tuple[Point, ...] = ()
    warnings: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def is_going(self) -> bool:
        """Whether a process works on the run."""
        return self.state in ("running", "stopping")


class Reader:
    """Follows the journal of one run; safe to use in several threads."""

    def __init__(self, folder: RunFolder, clock: Clock = SYSTEM) -> None:
        self._folder, self._clock = folder, clock
        self._lock = threading.Lock()
        self._view: View | None = None
        self._looked_s = float("-inf")
        self._begin()

    def _begin(self) -> None:
        self._tail = Tail(self._folder.path / JOURNAL)
        self._journal, self._steps = JournalState(), Steps()
        self._plan: Plan | None = None
        self._labels: list[str] = []

    def look(self) -> View:
        """Return how the run stands, as of at most `LOOK_S` ago."""
        with self._lock:
            if self._view is None or self._clock.monotonic_s() - self._looked_s >= LOOK_S:
                self._view = self._look()
                self._looked_s = self._clock.monotonic_s()
            return self._view

    def _look(self) -> View:
        try:
            is_held = self._folder.is_in_progress  # first: the run writes its last event before it lets go
            self._read()
            return self._made_view(self._state(is_held=is_held))
        except FileNotFoundError:
            self._begin()
            return View(run=self._folder.id, state="gone")
        except (OrchError, ValueError) as error:
            self._begin()
            return View(run=self._folder.id, state="unreadable", trouble=str(error))

    def _read(self) -> None:
        while events := self._tail.look():
            for event in events:
                self._steps.take(event)
                if event["event"] in _TAKEN:
                    self._journal.take(shortened(event) if event["event"] == "trial" else event)

    def _state(self, *, is_held: bool) -> State:
        if self._journal.state == "running":
            return "running" if is_held else "killed"
        return "stopping" if is_held else self._journal.state

    def _made_view(self, state: State) -> View:
        if self._plan is None:
            self._plan = self._folder.plan()
            self._labels = [label(self._plan, cell) for cell in self._plan.cells]
        points = self._points(self._plan)
        return View(
            run=self._folder.id,
            state=state,
            bytes_read=self._tail.offset,
            question=self._plan.question,
            progress=shown(self._folder.id, self._plan, self._journal, self._steps, self._clock),
            rows=tuple(self._rows(self._plan, points)),
            points=tuple(points[-MOST_POINTS:]),
            warnings=tuple(self._journal.warnings),
        )

    def _points(self, plan: Plan) -> list[Point]:
        places = {cell.id: place for place, cell in enumerate(plan.cells)}
        medians_ms = {key: median_ns * _MS_PER_NS for key, median_ns in self._journal.medians.items()}
        return [
            Point(
                trial=trial.index + 1,
                row=places[trial.cell],
                median_ms=medians_ms.get((trial.index, trial.attempt)),
                is_ok=trial.outcome == "ok",
            )
            for trial in self._journal.trials
        ]

    def _rows(self, plan: Plan, points: Iterable[Point]) -> Iterator[Row]:
        planned = Counter(trial.cell for trial in plan.trials)
        by_row: dict[int, list[Point]] = defaultdict(list)
        for point in points:
            by_row[point.row].append(point)
        for place, (label_of, cell) in enumerate(zip(self._labels, plan.cells, strict=True)):
            trials = by_row[place]
            latencies = [trial.median_ms for trial in trials if trial.median_ms is not None]
            yield Row(
                label=label_of,
                planned=planned[cell.id],
                done=len(trials),
                failed=sum(not trial.is_ok for trial in trials),
                median_ms=median(latencies) if latencies else None,
                least_ms=min(latencies, default=None),
                most_ms=max(latencies, default=None),
            )
