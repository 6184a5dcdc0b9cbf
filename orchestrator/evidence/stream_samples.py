"""Counts and times the events of a stream, from the rows of a record.

*Delivered* is a right event, each sequence number of a subscription once; *dropped* is what was due and never came
right; *duplicated* is what came again; *reordered* is a first arrival behind a higher number (RFC 4737, section 3.3). A
dropped event counts as slower than every other in each percentile, as a failed request does.

On one host an event's delivery is timed, from the sender's stamp to its receipt. Over a distance those are of two clocks, so
the gap from one event of a subscription to the next that came is timed and compared.
How many events wait at once says what a slow reader leaves to be buffered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator.evidence.run_evidence import OK, EventCounts, Samples, StreamTrial, named
from orchestrator.experiment.model.factors import knobs
from orchestrator.experiment.plan.plan import Cell
from orchestrator.findings.summary import StreamSummary
from orchestrator.record_layout import CLOCKS, KINDS
from orchestrator.results.manifest import TrialRecord
from orchestrator.statistics import quantiles as st
from orchestrator.statistics.quantiles import Distribution, Nanoseconds
from services.python.contract.streams import read_interval_ns, schedule

DRIFT = 5_000
"""Two clocks of hosts drift apart by at most one part in so many: 100 ppm each, which a crystal without care may have."""

COLUMNS = ("parent", "sender_ns", "sender_clock")  # beside those of `evidence`
_REQUEST, _EVENT = KINDS.index("request"), KINDS.index("event")
_SENDER = CLOCKS.index("responder-monotonic")
_CLOCKS_DIFFER = 1_000  # two hosts' clocks count the same time to one part in so many, and far better


class StreamSamples(Samples):
    """One requester's record of a stream, as the statistics see it: a sample is a delivered event.

    Its "send" is the sender's stamp where both ends share a clock (`is_one_clock`), otherwise the receipt of the event
    before it in its subscription. Arrays are in the order of that stamp. `timed_rows`: the places in the
    record of the events that are timed, and `timed_from_ns` that "send" of each, in the same order.
    """

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]], cell: Cell, *, is_one_clock: bool) -> None:
        self.is_one_clock = is_one_clock
        self._all = columns
        self.interval_ns, self.count = due(cell)
        self.clients = cell.load.concurrency
        events = np.flatnonzero((columns["kind"] == _EVENT) & (columns["phase"] == 1))
        events = events[np.lexsort((columns["received_ns"][events], columns["parent"][events]))]
        parent, number = columns["parent"][events], columns["sequence"][events]
        right = columns["status"][events] == OK
        self._made = np.flatnonzero((columns["kind"] == _REQUEST) & (columns["phase"] == 1))
        self.ended = columns["status"][columns["kind"] == _REQUEST]  # of each subscription, those of the warm-up too
        known = np.isin(parent, columns["sequence"][self._made]) & (columns["sender_clock"][events] == _SENDER)
        known &= (number >= 1) & (number <= self.count)
        first, is_reordered = _first_arrivals(parent, number, right & known, self.count)
        self.counts = EventCounts(
            offered=self.clients * self.count,
            delivered=int(first.sum()),
            duplicated=int((right & known & ~first).sum()),
            reordered=int(is_reordered.sum()),
            wrong=int((~right).sum()),
            strange=int((~known).sum()),
        )
        kept = events[first]
        self._kept_parent, self._kept_number = parent[first], number[first]
        self._received, self._sender = columns["received_ns"][kept], columns["sender_ns"][kept]
        self._requested = columns["sent_ns"][kept]  # an event's row has that of its subscription
        self._is_first = _begins(self._kept_parent)
        self._begins = np.flatnonzero(self._is_first)  # of each subscription's events, which stand together
        begun = self._sender
        timed = np.ones(kept.size, dtype=bool)
        if not is_one_clock:
            timed = ~self._is_first
            begun = np.concatenate([self._received[:1], self._received[:-1]])
        self.timed_rows = rows = kept[timed]
        self.timed_from_ns = begun[timed]
        super().__init__(
            {
                "sequence": np.arange(1, rows.size + 1),
                "phase": np.ones(rows.size, dtype=np.int8),
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
        return int(self._made.size)

    @cached_property
    def unended(self) -> Mapping[str, int]:
        """How many subscriptions of the measured phase did not end as they should, by how they ended."""
        statuses = self._all["status"][self._made]
        return named(statuses[statuses != OK])

    @property
    def span_ns(self) -> int:
        """First stamp to last receipt, and no less than the streams were to last: their last events have an interval too."""
        return max(super().span_ns, self.count * self.interval_ns) if self.measured else 0

    @cached_property
    def whole_span_ns(self) -> int:
        """First subscription to last event, warm-up included."""
        return int(self._all["received_ns"].max() - self._all["sent_ns"].min()) if self.rows else 0

    @cached_property
    def delivery_ns(self) -> Nanoseconds:
        """From the sender's stamp to the receipt of each delivered event; a time only where both ends share a clock."""
        return np.asarray(self._received - self._sender)

    @property
    def is_contradictory(self) -> bool:
        """Whether no offset between two clocks has every event sent after it was asked for and before it came."""
        if self.is_one_clock or not self._begins.size:
            return False
        requested, begun = (
            self._requested[self._begins],
            np.minimum.reduceat(self._sender - self._until_due, self._begins),
        )
        since_ns = np.abs(self._received - requested.min())
        most = (begun - requested + (requested - requested.min()) // DRIFT).min()
        return bool(most < (self._sender - self._received - since_ns // DRIFT).max())

    @cached_property
    def waiting(self) -> int | None:
        """The most events of a subscription that were stamped and not received at once; None over two clocks."""
        if not self.is_one_clock:
            return None
        most = 0
        ends = [*self._begins[1:].tolist(), self._sender.size][: self._begins.size]
        for begin, end in zip(self._begins.tolist(), ends, strict=True):
            stamps = np.sort(self._sender[begin:end])
            came = np.searchsorted(self._received[begin:end], stamps, side="right")
            most = max(most, int((np.arange(1, stamps.size + 1) - came).max()))
        return most

    @cached_property
    def gaps_ns(self) -> Nanoseconds:
        """From each delivered event to the next that came in the same subscription, ascending."""
        return np.asarray(np.sort(np.diff(self._received)[~self._is_first[1:]]))

    @property
    def _until_due(self) -> Nanoseconds:
        """How long after the first event of its subscription each one is due."""
        return np.asarray((self._kept_number - 1) * self.interval_ns)

    @cached_property
    def late_ns(self) -> Nanoseconds:
        """How late the sender was with each delivered event, ascending: by its own stamps, against its schedule."""
        return np.sort(self._lateness)

    @cached_property
    def _lateness(self) -> Nanoseconds:
        """The same by event.

        The schedule begins where the earliest event puts it: a lateness that all have alike is in `begun_ns`.
        """
        begin = self._sender - self._until_due
        if not begin.size:
            return begin
        each = np.diff(np.append(self._begins, begin.size))
        return np.asarray(begin - np.repeat(np.minimum.reduceat(begin, self._begins), each))

    @cached_property
    def begun_ns(self) -> int | None:
        """How long after its request a stream began, at worst: where its earliest event puts the beginning.

        By the sender's stamps where both ends share a clock, otherwise by the receipts; None without an event.
        """
        if not self._begins.size:
            return None
        by = self._sender if self.is_one_clock else self._received
        return int(np.minimum.reduceat(by - self._until_due - self._requested, self._begins).max())

    @cached_property
    def early(self) -> int:
        """Events that were sent before they can have been due: its schedule begins when a subscription is taken.

        By the stamps where both ends share a clock; otherwise those that came before, by the receiver's own clock.
        """
        if self.is_one_clock:
            return int((self._sender - self._requested < self._until_due).sum())
        least = self._until_due - self._until_due // _CLOCKS_DIFFER
        return int((self._received - self._requested < least).sum())

    @property
    def rate_kept(self) -> float | None:
        """The rate of the sender's stamps as a share of the planned one, of the slowest subscription; None without two."""
        order = np.lexsort((self._kept_number, np.cumsum(self._is_first)))
        numbers, stamps = self._kept_number[order], self._sender[order]
        ends = np.append(self._begins[1:], numbers.size) - 1 if numbers.size else self._begins
        took_ns = stamps[ends] - stamps[self._begins]
        planned_ns = (numbers[ends] - numbers[self._begins]) * self.interval_ns
        timed = took_ns > 0
        return float((planned_ns[timed] / took_ns[timed]).min()) if timed.any() else None


def _begins(groups: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which of the values that stand in groups is the first of one."""
    first = np.ones(groups.size, dtype=bool)
    first[1:] = groups[1:] != groups[:-1]
    return first


def _first_arrivals(
    parent: Nanoseconds, number: Nanoseconds, counted: npt.NDArray[np.bool_], most: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which rows bring an event for the first time, and which of these come behind a higher number.

    Rows stand by subscription, and in the order of their receipt; those counted are numbered from 1 to `most`.
    """
    first, is_reordered = np.zeros(parent.size, dtype=bool), np.zeros(parent.size, dtype=bool)
    places = np.flatnonzero(counted)
    # One ascending range of numbers for each subscription, so that none needs a pass of its own.
    unique = np.cumsum(_begins(parent[places])) * (most + 1) + number[places]
    order = np.argsort(unique, kind="stable")
    first[places[order[_begins(unique[order])]]] = True
    is_new = first[places]
    arrived, unique = places[is_new], unique[is_new]
    is_reordered[arrived[1:]] = unique[1:] < np.maximum.accumulate(unique)[:-1]
    return first, is_reordered


def due(cell: Cell) -> tuple[int, int]:
    """How far apart a stream's events are due, in nanoseconds, and how many each client is to be sent when measured."""
    return schedule(_per_second(cell), cell.load.duration_s or 0.0)


def _per_second(cell: Cell) -> float:
    return float(cell.factors.get("per_second") or 1.0)


class StreamsOfCell:
    """Adds up a cell's trials: what each came to, and the percentiles over all."""

    def __init__(self, cell: Cell, *, is_one_clock: bool) -> None:
        self._cell = cell
        self._is_one_clock = is_one_clock
        self._trials: list[StreamTrial] = []
        self._gaps: list[Nanoseconds] = []
        self._reading_ns = read_interval_ns(knobs(cell.factors))
        self._memory: list[int] = []

    def add(self, record: TrialRecord, parts: Sequence[StreamSamples]) -> StreamTrial:
        """One trial, from the samples of all its requesters."""
        late, gaps = (st.merged([getattr(part, name) for part in parts]) for name in ("late_ns", "gaps_ns"))
        kept = [share for part in parts if (share := part.rate_kept) is not None]
        begun = [begun_ns for part in parts if (begun_ns := part.begun_ns) is not None]
        cell = self._cell
        interval_ns, count = due(cell)
        # Before the measured phase the check had an event of each requester, and the warm-up its own.
        warm = schedule(_per_second(cell), min(cell.warmup.at_least_s, cell.warmup.at_most_s))[1]
        earlier = len(parts) + cell.load.concurrency * warm
        before, after = (None if s is None else s.events for s in (record.stats_before, record.stats))
        trial = StreamTrial(
            counts=sum((part.counts for part in parts), EventCounts()),
            sent=None  # where some subscription did not end as it should the sender did not count them all
            if after is None or any((part.ended != OK).any() for part in parts)
            else after.sent - (before.sent if before else 0) - earlier,
            interval_ns=interval_ns,
            lasts_ns=interval_ns * count,
            late_p99_ns=st.quantile(late, 0.99) if late.size else None,
            worst_late_ns=None if after is None else after.worst_late_ns,
            begun_ns=max(begun, default=None),
            rate_kept=min(kept, default=None),
            before_sent=sum(int((part.delivery_ns < 0).sum()) for part in parts) if self._is_one_clock else 0,
            early=sum(part.early for part in parts),
            unended=dict(sum((Counter(part.unended) for part in parts), Counter())),
            reading_ns=self._reading_ns,
            waiting=max((part.waiting or 0 for part in parts), default=0) if self._is_one_clock else None,
            is_contradictory=any(part.is_contradictory for part in parts if part.measured),
        )
        self._trials.append(trial)
        if record.stats is not None and record.stats.memory_bytes is not None:
            self._memory.append(record.stats.memory_bytes)
        self._gaps.append(gaps)
        return trial

    def summary(self, timed: Distribution | None) -> StreamSummary | None:
        """`timed`: the distribution of the cell's samples, which are deliveries where both ends share a clock."""
        if not self._trials:
            return None
        counts = sum((trial.counts for trial in self._trials), EventCounts())
        dropped = [trial.counts.dropped for trial in self._trials]
        gaps, delivery = st.of_trials(self._gaps, dropped), timed if self._is_one_clock else None
        censored = tuple(
            f"{prefix}_{name}"
            for prefix, percentiles in (("gap", gaps), ("delivery", delivery))
            for name in ("median", "p99")
            if percentiles is not None and name in percentiles.censored
        )
        waiting = [trial.waiting for trial in self._trials if trial.waiting is not None]
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
            gap_median=gaps.median if gaps else None,
            gap_p99=gaps.p99 if gaps else None,
            delivery_median=delivery.median if delivery else None,
            delivery_p99=delivery.p99 if delivery else None,
            waiting=max(waiting, default=None),
            sender_memory=max(self._memory, default=None),
            late_p99=max(late) / st.NS_PER_MS if late else None,
            worst_late=max(worst) / st.NS_PER_MS if worst else None,
            censored=censored,
        )
