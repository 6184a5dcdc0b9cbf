"""How a run in progress stands: what its journal says, read on from where the last look ended.

Samples are not read: the run itself writes each trial's median into the journal, between two trials.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Literal

from orchestrator.clock import SYSTEM, Clock
from orchestrator.errors import OrchError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.measure.progress import InProgress, shown
from orchestrator.measure.run_context import label
from orchestrator.results.derive import JournalState
from orchestrator.results.folder import RunFolder
from orchestrator.results.journal import Tail
from orchestrator.results.manifest import TrialRecord
from orchestrator.results.names import JOURNAL
from orchestrator.wording.notes import recorded

State = Literal["running", "stopping", "complete", "interrupted", "killed", "gone", "unreadable"]

LOOK_S = 1.0
"""The journal is read at most once in so many seconds, whatever the number of viewers."""
_MS_PER_NS = 1e-6


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
    """The state of a run; `progress` is None where the journal cannot be read (`trouble`)."""

    run: str
    state: State
    question: str = ""
    progress: InProgress | None = None
    rows: tuple[Row, ...] = ()
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
        self._journal = JournalState()
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
        for event in self._tail.look():
            self._journal.take(event)

    def _state(self, *, is_held: bool) -> State:
        if self._journal.state == "running":
            return "running" if is_held else "killed"
        return "stopping" if is_held else self._journal.state

    def _made_view(self, state: State) -> View:
        if self._plan is None:
            self._plan = self._folder.plan()
            self._labels = [label(self._plan, cell) for cell in self._plan.cells]
        return View(
            run=self._folder.id,
            state=state,
            question=self._plan.question,
            progress=shown(self._folder.id, self._plan, self._journal, self._clock),
            rows=tuple(self._rows(self._plan)),
            warnings=recorded(self._journal),
        )

    def _rows(self, plan: Plan) -> Iterator[Row]:
        planned = Counter(trial.cell for trial in plan.trials)
        by_cell: dict[str, list[TrialRecord]] = defaultdict(list)
        for trial in self._journal.trials:
            by_cell[trial.cell].append(trial)
        for name, cell in zip(self._labels, plan.cells, strict=True):
            trials = by_cell[cell.id]
            medians = [self._journal.medians.get((trial.index, trial.attempt)) for trial in trials]
            latencies_ms = [each.median * _MS_PER_NS for each in medians if each is not None]
            yield Row(
                label=name,
                planned=planned[cell.id],
                done=len(trials),
                failed=sum(trial.outcome != "ok" for trial in trials),
                median_ms=median(latencies_ms) if latencies_ms else None,
                least_ms=min(latencies_ms, default=None),
                most_ms=max(latencies_ms, default=None),
            )
