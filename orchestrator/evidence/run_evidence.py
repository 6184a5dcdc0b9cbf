"""What summary and checks are computed from: small numbers per trial, taken from the samples in one pass.

Only `Samples` holds arrays, and it lives as long as its trial is being read; 10 million requests leave a few kilobytes
per trial behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator import quantities, record_layout
from orchestrator.catalogue.read import protocols
from orchestrator.experiment.plan.plan import Cell, Operation, Placement, Plan, Stack
from orchestrator.experiment.plan.topology import Limit
from orchestrator.findings.summary import FloorSummary, MixedSummary, PartSummary, StreamSummary, Strip, TrialSummary
from orchestrator.results.manifest import BaselineRecord, Heard, Manifest, TrialRecord
from orchestrator.statistics.quantiles import Distribution, Nanoseconds
from services.python.contract.lines import STATUSES, Load
from services.python.contract.requester_lines import Done
from services.python.load.phases import Rests

COLUMNS = (
    "sequence",
    "phase",
    "connection",
    "intended_ns",
    "sent_ns",
    "received_ns",
    "bytes_sent",
    "bytes_received",
    "status",
    "kind",
)
OK = 0
_SAMPLES = [record_layout.KINDS.index(name) for name in ("request", "task", "codec", "mixed")]
_PART = record_layout.KINDS.index("part")
NOT_SENT = STATUSES.index("not-sent")


def _measured(name: str, *, only_right: bool = False) -> cached_property[Nanoseconds]:
    """A column of the measured phase; of successful requests alone, if so wished."""
    return cached_property(lambda samples: samples.of_phase(name)[samples.ok if only_right else slice(None)])


class Samples:
    """One requester's record of one trial. Arrays of the measured phase are in the order of sending.

    What an open loop had due and never sent is in none of them: `never_sent_ns` holds when it was due. A sample's parts and
    a stream's events are rows of the record and no samples: only `recorded` counts them.

    `latency_ns` counts to the decoded reply, of successful requests: in an open loop from the *intended* send time, in a
    closed one from the real one, as `call_ns` does always. With think time (`rests`) the intended one is when the rest
    before the request was over: what is sent later is late by the requester's own timers.
    """

    sent_ns = _measured("sent_ns")  # ascending
    received_ns = _measured("received_ns")  # when each was answered, or known to have failed
    intended_ns = _measured("intended_ns")
    connection = _measured("connection")
    status = _measured("status")  # an index into `contract.STATUSES`
    places = _measured("parent")  # of a mix that of the operation of each, from 1; only where `parent` was read
    bytes_sent = _measured("bytes_sent", only_right=True)  # of bodies, -1 where unknown
    bytes_received = _measured("bytes_received", only_right=True)

    def __init__(
        self,
        columns: Mapping[str, npt.NDArray[Any]],
        *,
        is_open_loop: bool = False,
        in_flight: int = 1,
        rests: Rests | None = None,
    ) -> None:
        self.recorded = int(columns["sequence"].size)
        kinds = columns.get("kind")
        if kinds is not None and kinds.any():
            is_sample = np.isin(kinds, _SAMPLES)
            columns = {name: values[is_sample] for name, values in columns.items()}
        self.columns = columns  # in the order of the record, the warm-up and unsent ones too
        self.is_open_loop = is_open_loop
        self.in_turns = "turn" in columns  # one behind the other (`joined_turns`)
        self.in_flight = in_flight  # as declared
        self.rests = rests
        due = columns["phase"] == 1
        unsent = columns["status"] == NOT_SENT
        self.never_sent = due & unsent  # by the rows of `columns`
        self.never_sent_ns: Nanoseconds = columns["intended_ns"][self.never_sent]
        measured = np.flatnonzero(due & ~unsent)
        sent = columns["sent_ns"][measured]
        if sent.size > 1 and np.any(sent[1:] < sent[:-1]):
            measured = measured[np.argsort(sent, kind="stable")]
        self._measured = measured

    @property
    def most_in_flight(self) -> int:
        """The most requests under way at one moment; one that starts as another ends does not overlap it."""
        begun = self.sent_ns
        if not begun.size:
            return 0
        ended = np.searchsorted(np.sort(self.received_ns), begun, side="right")
        return int((np.arange(1, begun.size + 1) - ended).max())

    def of_phase(self, name: str) -> Nanoseconds:
        """A column of the measured phase."""
        return np.asarray(self.columns[name][self._measured])

    @property
    def rows(self) -> int:
        """Samples of the record, warm-up included."""
        return int(self.columns["sequence"].size)

    @property
    def measured(self) -> int:
        """Requests sent in the measured phase, failed ones included."""
        return int(self._measured.size)

    @property
    def out_of_place(self) -> int:
        """Rows of the warm-up not over before the measured phase begins, by number or time, and rows of no phase."""
        phase, numbers = self.columns["phase"], self.columns["sequence"]
        lost = int((~np.isin(phase, (0, 1))).sum())
        if not self.measured:
            return lost
        warm, begun_ns = phase == 0, self.sent_ns[0]
        late = self.columns["received_ns"] > begun_ns
        if not self.in_turns:  # each of which has a warm-up of its own
            late |= numbers > numbers[phase == 1].min()
        return lost + int((warm & late).sum())

    @cached_property
    def ready_ns(self) -> Nanoseconds:
        """When the worker of each was to send it: at once in a closed loop, with think time when its rest was over."""
        return self.intended_ns if self.rests else self.sent_ns

    @cached_property
    def rest_ns(self) -> Nanoseconds:
        """The think time after each, as it was drawn; 0 without."""
        if self.rests is None or not self.measured:
            return np.zeros(self.measured, dtype=np.int64)
        numbers = self.of_phase("sequence")
        index = numbers - numbers.min()
        if not self.rests.drawn:
            return np.full(index.size, self.rests.mean_ns, dtype=np.int64)
        drawn = np.asarray(self.rests.drawn, dtype=np.int64)
        return np.asarray(drawn[(self.rests.workers + index) % drawn.size])

    @cached_property
    def whole_span_ns(self) -> int:
        """First send to last reply, warm-up included."""
        return int(self.columns["received_ns"].max() - self.columns["sent_ns"].min()) if self.rows else 0

    @cached_property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Which of the measured requests succeeded."""
        return np.asarray(self.status == OK)

    @cached_property
    def failed(self) -> npt.NDArray[np.bool_]:
        """Which of them got no right reply, which count as slower than every reply; nothing else is a failed request."""
        return ~self.ok

    @cached_property
    def latency_ns(self) -> Nanoseconds:
        """See the class; successful requests, in send order."""
        begun = self.intended_ns if self.is_open_loop else self.sent_ns
        return (self.received_ns - begun)[self.ok]

    @cached_property
    def call_ns(self) -> Nanoseconds:
        """From the real send time, successful requests, in send order."""
        return (self.received_ns - self.sent_ns)[self.ok]

    @cached_property
    def ordered_ns(self) -> Nanoseconds:
        """`latency_ns`, ascending."""
        return np.sort(self.latency_ns)

    @property
    def span_ns(self) -> int:
        """First measured send to last measured reply, without the edges of turns."""
        return int(self.received_ns.max() - self.sent_ns[0]) - self.edges_ns if self.measured else 0

    @cached_property
    def edges_ns(self) -> int:
        """How long a worker had nothing to do at the ends and beginnings of turns, on average: others ended later."""
        gaps = self.room_ns(between_turns=True)
        return int(gaps.sum()) // self.in_flight

    def room_ns(self, *, between_turns: bool = False) -> Nanoseconds:
        """From each reply to the request that it makes room for, of the same turn or of the next one."""
        free = self.received_ns + self.rest_ns
        by_ready, by_free = np.argsort(self.ready_ns, kind="stable"), np.argsort(free, kind="stable")
        ready, free = self.ready_ns[by_ready][self.in_flight :], free[by_free][: -self.in_flight]
        gaps: Nanoseconds = ready - free
        if not self.in_turns:
            return gaps[:0] if between_turns else gaps
        differ = self.turn[by_ready][self.in_flight :] != self.turn[by_free][: -self.in_flight]
        return np.asarray(gaps[differ if between_turns else ~differ])

    @cached_property
    def turn(self) -> Nanoseconds:
        """The place of each request's turn; 0 where there are none."""
        return self.of_phase("turn") if self.in_turns else np.zeros(self.measured, dtype=np.int64)

    def schedule_ns(self, most: int) -> Nanoseconds:
        """When the first `most` requests of an open loop were due, sent or not, counted from the first; in their order."""
        rows = np.flatnonzero(self.columns["phase"] == 1)
        rows = rows[np.argsort(self.columns["sequence"][rows], kind="stable")][:most]
        due: Nanoseconds = self.columns["intended_ns"][rows]
        return due - due[0] if due.size else due

    @cached_property
    def first_requests_ns(self) -> Nanoseconds:
        """The first successful request of each connection, warm-up included: what a reused connection starts with."""
        good = np.flatnonzero(self.columns["status"] == OK)
        by_sending = good[np.argsort(self.columns["sequence"][good], kind="stable")]
        _, first = np.unique(self.columns["connection"][by_sending], return_index=True)
        rows = by_sending[first]
        return np.asarray(self.columns["received_ns"][rows] - self.columns["sent_ns"][rows])


def named(statuses: Nanoseconds) -> dict[str, int]:
    """Return how often each status occurs, by its name."""
    numbers, counts = np.unique(statuses, return_counts=True)
    return {
        STATUSES[number] if 0 <= number < len(STATUSES) else f"status {number}": count
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
    }


def parts_of(columns: Mapping[str, npt.NDArray[Any]]) -> dict[int, Nanoseconds]:
    """How long each right part of the measured samples took, by its place in them, from 1; empty without parts."""
    kept = (columns["kind"] == _PART) & (columns["phase"] == 1) & (columns["status"] == OK)
    places, took = columns["sequence"][kept], (columns["received_ns"] - columns["sent_ns"])[kept]
    return {int(place): took[places == place] for place in np.unique(places)}


@dataclass(frozen=True, kw_only=True)
class Part:
    """One requester's part in a trial: what it said at the end, and what each check saw in its samples.

    `load` is its own: of several requesters, its share. `process` is its number on its host, from 0; `heard` when its lines
    passed orch, where several hosts asked.
    """

    host: str
    done: Done
    seen: Mapping[str, Any]
    load: Load
    connections: int  # as many as it was to keep open
    seed: int = 0  # what its trial was drawn from
    process: int = 0
    heard: Heard | None = None


@dataclass(frozen=True, kw_only=True)
class BaselineReading:
    """One reading of the floor: a baseline record and its numbers, in nanoseconds; no reply, no numbers."""

    record: BaselineRecord
    n: int
    lost: int
    minimum_ns: int | None
    median_ns: float | None


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Sums over the successful requests of a trial, all its requesters together."""

    ok: int
    body_sent: int | None
    body_received: int | None
    rate_per_s: float | None  # each requester's right replies over the wall time of its own window, added up
    goodput_mbit_per_s: float | None  # the larger of both directions
    first_request_ms: float | None
    window_s: float | None = None  # in which `ok` replies make `rate_per_s`; the longest one without a reply


@dataclass(frozen=True, kw_only=True)
class EventCounts:
    """Events of the measured phase; `strange` rows are of no subscription, another clock, or a number beyond the last."""

    offered: int = 0
    delivered: int = 0
    duplicated: int = 0
    reordered: int = 0
    wrong: int = 0
    strange: int = 0

    @property
    def dropped(self) -> int:
        """Due, and never came right."""
        return max(0, self.offered - self.delivered)

    def __add__(self, other: EventCounts) -> EventCounts:
        return EventCounts(**{name: value + getattr(other, name) for name, value in vars(self).items()})


@dataclass(frozen=True, kw_only=True)
class StreamTrial:
    """What came of a stream in one trial, all its requesters together.

    `sent` is the sender's own count for the measured phase, `worst_late_ns` the sender's too, over the whole trial; None
    where it does not say, or counted subscriptions that were left alone. `late_p99_ns` is by the stamps in the
    events, `begun_ns` is how long after its request a stream began, at worst. `rate_kept`: the rate of those stamps,
    as a share of the planned one, of the slowest subscription. `before_sent`: events received before they were sent, by
    one clock; `early`: those sent before they were due.
    `unended`: those that did not end as they should, by status. `lasts_ns`: by its schedule.

    `reading_ns`: how long its clients take for an event at least (0: as they come). `waiting`: the most events of one
    subscription that were stamped and not received, None over two clocks. `is_contradictory`: no offset between two clocks
    has every event sent after it was requested and before it came.
    """

    counts: EventCounts
    sent: int | None
    interval_ns: int
    lasts_ns: int
    late_p99_ns: float | None
    worst_late_ns: int | None
    begun_ns: int | None
    rate_kept: float | None
    before_sent: int = 0
    early: int = 0
    unended: Mapping[str, int] = field(default_factory=dict)
    reading_ns: int = 0
    waiting: int | None = None
    is_contradictory: bool = False


@dataclass(frozen=True, kw_only=True)
class TrialEvidence:
    """One finished trial. `summary` is None when nothing was measured in it; `stream` is of a stream alone."""

    record: TrialRecord
    parts: tuple[Part, ...]
    summary: TrialSummary | None
    totals: Totals
    errors: Mapping[str, int]
    not_sent: int = 0  # due in an open loop, and not sent before the window closed
    stream: StreamTrial | None = None
    readings: tuple[BaselineReading, ...] = ()  # of the floor, in the same block, between the same two ends
    whole: Mapping[str, Any] = field(default_factory=dict)  # seen in the requests of all its requesters, by name

    @property
    def called(self) -> str:
        """How to name it: `block 3 (trial 20)`."""
        return quantities.of_trial(self.record.block, self.record.index)

    def readings_of(self, kind: str, cell: str | None = None) -> Iterator[BaselineReading]:
        """The readings of a kind that have replies; of `tcp`, those that belong to the cell."""
        for reading in self.readings:
            if reading.record.kind == kind and reading.n and (cell is None or cell in reading.record.cells):
                yield reading


@dataclass(frozen=True, kw_only=True)
class CellEvidence:
    """One cell with all its trials that count."""

    cell: Cell
    stack: Stack
    operation: Operation
    placement: Placement
    requesters: int  # processes that ask, on all hosts
    trials: tuple[TrialEvidence, ...]
    failed: tuple[TrialRecord, ...]
    planned: int
    distribution: Distribution | None  # of all measured requests; None without a single right reply
    replies: Distribution | None  # of the right replies alone: what a check of the timings is to look at
    strip: Strip | None
    is_one_machine: bool = True  # both ends share its CPUs and their counters, as hosts of a lab do
    limit: Limit | None = None  # what the machine type intends that a host cannot have
    is_pinned: bool = True  # the scheduler cannot move the two ends together or apart meanwhile
    parts_ms: tuple[PartSummary, ...] = ()  # of its samples, where they have parts
    stream: StreamSummary | None = None
    mixed: tuple[MixedSummary, ...] = ()
    one_host: Distribution | None = None  # right replies of the same stack, operation, policy and load on `local`

    @property
    def is_open_loop(self) -> bool:
        """Whether requests were sent by a schedule and not by replies."""
        return self.cell.load.rate_per_s is not None

    @property
    def check_requests(self) -> int:
        """Requests of each requester before its record begins, on a connection each: identity, and each operation."""
        return 1 + max(1, len(self.operation.mix))

    @property
    def is_external(self) -> bool:
        """Whether the responder ran already: it reports nothing of itself, so no check may pass by its account."""
        return self.stack.running is not None

    def parts(self, check: str) -> Iterator[tuple[TrialEvidence, Part, Any]]:
        """Each requester's part of each trial in which a check saw something, with what it saw."""
        for trial in self.trials:
            for part in trial.parts:
                if part.seen.get(check) is not None:
                    yield trial, part, part.seen[check]


@dataclass(frozen=True, kw_only=True)
class RunEvidence:
    """The whole run."""

    manifest: Manifest
    plan: Plan
    cells: tuple[CellEvidence, ...]
    readings: tuple[BaselineReading, ...]
    floors: tuple[FloorSummary, ...] = ()

    def beside(self, cell: CellEvidence) -> list[CellEvidence]:
        """Return the cells that differ from one in the stack alone."""
        return [other for other in self.in_blocks_of(cell) if other.cell.setting == cell.cell.setting]

    def in_blocks_of(self, cell: CellEvidence) -> list[CellEvidence]:
        """Return the other cells with the same work at the same place: what disturbs a block disturbs them, too."""
        return [other for other in self._by_work[_work_of(cell)] if other is not cell]

    @cached_property
    def _by_work(self) -> Mapping[tuple[object, ...], list[CellEvidence]]:
        cells: dict[tuple[object, ...], list[CellEvidence]] = {}
        for cell in self.cells:
            cells.setdefault(_work_of(cell), []).append(cell)
        return cells


def _work_of(cell: CellEvidence) -> tuple[object, ...]:
    return (cell.operation.id, cell.placement.id, cell.cell.load, cell.cell.kind)


def round_trips_to_open(stack: Stack) -> int:
    """How many round trips a new connection of the stack takes before its first request."""
    try:
        return protocols()[stack.protocol].round_trips(stack.client)
    except KeyError:
        return 1  # a protocol that this checkout no longer has: at least TCP's own handshake
