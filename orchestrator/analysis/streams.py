"""What came of a stream, event by event, from the rows of a record.

*Delivered* is a right event, each sequence number of a subscription once; *dropped* is what was due and never came
right; *duplicated* is what came again; *reordered* is a first arrival behind a higher number (RFC 4737, section 3.3). A
dropped event counts as slower than every other in each percentile, as a failed request does.

What is timed of an event is its delivery: from the sender's stamp to its receipt. Those are readings of two clocks, unless
both ends run on one host, where they are of one. Over a distance no offset between hosts is good enough for that, so
there the gap is timed, from one event of a subscription to the next that came: what arrives late makes a long gap,
whatever the clocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator.analysis import statistics as st
from orchestrator.analysis.evidence import OK, EventCounts, Samples, StreamTrial
from orchestrator.analysis.statistics import Nanoseconds
from orchestrator.analysis.summary import Distribution, StreamSummary
from orchestrator.experiment.plan.plan import Cell
from orchestrator.record_layout import CLOCKS, KINDS
from orchestrator.results.manifest import TrialRecord
from services.python.contract.streams import schedule

COLUMNS = ("parent", "sender_ns", "sender_clock")  # beside those of `evidence`
DROPPED = "dropped"
_REQUEST, _EVENT = KINDS.index("request"), KINDS.index("event")
_SENDER = CLOCKS.index("responder-monotonic")

WHY_NO_DELIVERY = (
    "sender and receiver are on two hosts, whose clocks no measurement here brings close enough together: gaps between"
    " events are shown instead"
)


class StreamSamples(Samples):
    """One requester's record of a stream, as the statistics see it: a sample is a delivered event.

    Its "send" is the sender's stamp where both ends share a clock (`is_one_clock`), otherwise the receipt of the event
    before it in its subscription. Arrays are in the order of that stamp.
    """

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]], cell: Cell, *, is_one_clock: bool) -> None:
        self.is_one_clock = is_one_clock
        self._all = columns
        self.interval_ns, self.count = due(cell)
        self.clients = cell.load.concurrency
        events = np.flatnonzero((columns["kind"] == _EVENT) & (columns["phase"] == 1))
        events = events[np.lexsort((columns["received_ns"][events], columns["parent"][events]))]
        self._parent, self._number = columns["parent"][events], columns["sequence"][events]
        right = columns["status"][events] == OK
        made = set(columns["sequence"][(columns["kind"] == _REQUEST) & (columns["phase"] == 1)].tolist())
        known = np.isin(self._parent, list(made)) & (columns["sender_clock"][events] == _SENDER)
        known &= (self._number >= 1) & (self._number <= self.count)
        first, is_reordered = _first_arrivals(self._parent, self._number, right & known)
        self.counts = EventCounts(
            offered=self.clients * self.count,
            delivered=int(first.sum()),
            duplicated=int((right & known & ~first).sum()),
            reordered=int(is_reordered.sum()),
            wrong=int((~right).sum()),
            strange=int((~known).sum()),
        )
        kept = events[first]
        self._kept_parent, self._kept_number = self._parent[first], self._number[first]
        self._received, self._sender = columns["received_ns"][kept], columns["sender_ns"][kept]
        begun = self._sender
        timed = np.ones(kept.size, dtype=bool)
        if not is_one_clock:
            timed = np.zeros(kept.size, dtype=bool)
            timed[1:] = self._kept_parent[1:] == self._kept_parent[:-1]
            begun = np.concatenate([self._received[:1], self._received[:-1]])
        rows = kept[timed]
        super().__init__(
            {
                "sequence": np.arange(1, rows.size + 1),
                "phase": np.ones(rows.size, dtype=np.int64),
                "connection": columns["connection"][rows],
                "intended_ns": begun[timed],
                "sent_ns": begun[timed],
                "received_ns": self._received[timed],
                "bytes_sent": columns["bytes_sent"][rows],
                "bytes_received": columns["bytes_received"][rows],
                "status": columns["status"][rows],
            },
            in_flight=self.clients,
        )
        self.recorded = self.rows

    @property
    def rows(self) -> int:
        """Rows of the record: of the warm-up, of subscriptions and of wrong events, too."""
        return int(self._all["sequence"].size)

    @property
    def subscriptions(self) -> int:
        """Subscriptions of the measured phase."""
        return int(((self._all["kind"] == _REQUEST) & (self._all["phase"] == 1)).sum())

    @cached_property
    def whole_span_ns(self) -> int:
        """First subscription to last event, warm-up included."""
        return int(self._all["received_ns"].max() - self._all["sent_ns"].min()) if self.rows else 0

    @cached_property
    def delivery_ns(self) -> Nanoseconds:
        """From the sender's stamp to the receipt of each delivered event; a time only where both ends share a clock."""
        delivery: Nanoseconds = self._received - self._sender
        return delivery

    @cached_property
    def gaps_ns(self) -> Nanoseconds:
        """From each delivered event to the next that came in the same subscription, ascending."""
        same = self._kept_parent[1:] == self._kept_parent[:-1]
        gaps: Nanoseconds = np.sort(np.diff(self._received)[same])
        return gaps

    @cached_property
    def late_ns(self) -> Nanoseconds:
        """How late the sender was with each delivered event, ascending: by its own stamps, against its schedule.

        The schedule begins where the earliest event puts it, so a lateness that all have alike is not seen.
        """
        begin = self._sender - (self._kept_number - 1) * self.interval_ns
        late = begin.copy()
        for mine in self._each():
            late[mine] = begin[mine] - begin[mine].min()
        return np.sort(late)

    @property
    def rate_kept(self) -> float | None:
        """The rate of the sender's stamps as a share of the planned one, of the slowest subscription; None without two."""
        shares = []
        for mine in self._each():
            numbers, stamps = self._kept_number[mine], self._sender[mine]
            first, last = numbers.argmin(), numbers.argmax()
            took_ns = int(stamps[last] - stamps[first])
            if took_ns > 0:
                shares.append(float(numbers[last] - numbers[first]) * self.interval_ns / took_ns)
        return min(shares, default=None)

    def _each(self) -> Iterator[npt.NDArray[np.bool_]]:
        """The delivered events of each subscription."""
        for parent in np.unique(self._kept_parent):
            yield self._kept_parent == parent


def _first_arrivals(
    parent: Nanoseconds, number: Nanoseconds, counted: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which rows bring an event for the first time, and which of these come behind a higher number.

    Rows stand by subscription, and in the order of their receipt.
    """
    first, is_reordered = np.zeros(parent.size, dtype=bool), np.zeros(parent.size, dtype=bool)
    places = np.flatnonzero(counted)
    _, at = np.unique(np.stack([parent[places], number[places]]), axis=1, return_index=True)
    first[places[at]] = True
    arrived = np.flatnonzero(first)
    for one in np.unique(parent[arrived]):
        mine = arrived[parent[arrived] == one]
        highest = np.maximum.accumulate(number[mine])
        is_reordered[mine[1:]] = number[mine[1:]] < highest[:-1]
    return first, is_reordered


def due(cell: Cell) -> tuple[int, int]:
    """How far apart a stream's events are due, in nanoseconds, and how many each client is to be sent when measured."""
    return schedule(_per_second(cell), cell.load.duration_s or 0.0)


def due_in_warm_up(cell: Cell) -> int:
    """How many events each client is to be sent before that."""
    return schedule(_per_second(cell), min(cell.warmup.at_least_s, cell.warmup.at_most_s))[1]


def _per_second(cell: Cell) -> float:
    return float(cell.factors.get("per_second") or 1.0)


class StreamsOfCell:
    """Adds up a cell's trials: what each came to, and the percentiles over all."""

    def __init__(self, cell: Cell, *, is_one_clock: bool) -> None:
        self._cell = cell
        self._is_one_clock = is_one_clock
        self._trials: list[StreamTrial] = []
        self._gaps: list[Nanoseconds] = []

    def add(self, record: TrialRecord, parts: Sequence[StreamSamples]) -> StreamTrial:
        """One trial, from the samples of all its requesters."""
        late = np.sort(np.concatenate([part.late_ns for part in parts])) if parts else np.empty(0, dtype=np.int64)
        kept = [share for part in parts if (share := part.rate_kept) is not None]
        before, after = (None if s is None else s.events for s in (record.stats_before, record.stats))
        trial = StreamTrial(
            counts=sum((part.counts for part in parts), EventCounts()),
            sent=None
            if after is None
            else after.sent - (before.sent if before else 0) - self._asked_before(len(parts)),
            interval_ns=due(self._cell)[0],
            late_p99_ns=st.quantile(late, 0.99) if late.size else None,
            worst_late_ns=None if after is None else after.worst_late_ns,
            rate_kept=min(kept, default=None),
            before_sent=sum(int((part.delivery_ns < 0).sum()) for part in parts) if self._is_one_clock else 0,
        )
        self._trials.append(trial)
        self._gaps.append(np.sort(np.concatenate([part.gaps_ns for part in parts])) if parts else late)
        return trial

    def _asked_before(self, requesters: int) -> int:
        """Events sent before the measured phase: of the check, and of the warm-up."""
        return requesters * (1 + self._cell.load.concurrency * due_in_warm_up(self._cell))

    def summary(self, timed: Distribution | None) -> StreamSummary | None:
        """`timed`: the distribution of the cell's samples, which are deliveries where both ends share a clock."""
        if not self._trials:
            return None
        counts = sum((trial.counts for trial in self._trials), EventCounts())
        gap_median, gap_p99, censored = _percentiles(self._gaps, [trial.counts.dropped for trial in self._trials])
        delivery = timed if self._is_one_clock else None
        if delivery is not None:
            censored += tuple(f"delivery_{name}" for name in ("median", "p99") if name in delivery.censored)
        sent = [trial.sent for trial in self._trials if trial.sent is not None]
        late = [trial.late_p99_ns for trial in self._trials if trial.late_p99_ns is not None]
        worst = [trial.worst_late_ns for trial in self._trials if trial.worst_late_ns is not None]
        return StreamSummary(
            timed="delivery" if self._is_one_clock else "gap",
            offered=counts.offered,
            sent=sum(sent) if len(sent) == len(self._trials) else None,
            delivered=counts.delivered,
            dropped=counts.dropped,
            duplicated=counts.duplicated,
            reordered=counts.reordered,
            wrong=counts.wrong,
            interval=due(self._cell)[0] / st.NS_PER_MS,
            gap_median=gap_median,
            gap_p99=gap_p99,
            delivery_median=delivery.median if delivery else None,
            delivery_p99=delivery.p99 if delivery else None,
            late_p99=max(late) / st.NS_PER_MS if late else None,
            worst_late=max(worst) / st.NS_PER_MS if worst else None,
            censored=censored,
            why_gap="" if self._is_one_clock else WHY_NO_DELIVERY,
        )


def _percentiles(
    trials: Sequence[Nanoseconds], dropped: Sequence[int]
) -> tuple[float | None, float | None, tuple[str, ...]]:
    """Median and p99 of gaps in ms, as a cell's percentiles are; what falls among dropped events is None, and named."""
    pooled = np.sort(np.concatenate(trials))
    if not pooled.size:
        return None, None, ()
    each = [st.percentiles(gaps, lost) for gaps, lost in zip(trials, dropped, strict=True) if gaps.size + lost]
    of = st.over_trials(st.distribution(pooled, sum(dropped)), each)
    return of.median, of.p99, tuple(f"gap_{name}" for name in ("median", "p99") if name in of.censored)
