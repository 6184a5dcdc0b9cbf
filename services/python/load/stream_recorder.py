"""The books of a trial of streams: every event that came a row, and what never came counted.

While a stream runs an event is only kept, beside the stamp of its receipt: `settle` verifies it and stores its row when all
subscriptions of the phase are over. Events for which there is no memory left are verified at once, and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.contract.lines import STATUSES
from services.python.contract.strict import quotable
from services.python.load.client import CallFailed, Event, Request
from services.python.load.phases import NS, progress_line
from services.python.load.record import CLOCKS, KINDS, Record, Row
from services.python.load.recorder import EXAMPLE_CHARACTERS
from services.python.load.unverified import footprint

_EVENT = KINDS.index("event")
_SENDER = CLOCKS.index("responder-monotonic")
_WRONG = STATUSES.index("wrong-reply")
_OTHER_BYTES = 200  # of an event's stamp and its places in tuples and lists
_MOST_TIMES = 2  # as many events as were asked for: whoever sends more does not stop

Received = tuple[int, tuple[Event, int]]  # when an event was received, the event, and the bytes of its message


class TooMany(Exception):
    """A responder sends far more events than it was asked for."""


@dataclass(eq=False, kw_only=True)
class Subscription:
    """One subscription of one client, and the events that came and were not looked at yet."""

    sequence: int
    request: Request
    most: int  # events asked for
    connection: int = -1
    sent_ns: int = 0
    ended_ns: int = 0
    bytes_sent: int = -1
    failure: CallFailed | None = None
    kept: list[Received] = field(default_factory=list)
    came: int = 0
    right: list[tuple[int, int]] = field(default_factory=list)  # of right events, when each was received and its number
    bytes_received: int = 0


@dataclass(kw_only=True)
class StreamTally:
    """Counts of one phase. Of events, `delivered` are right ones, each sequence number once."""

    subscriptions: int = 0
    offered: int = 0
    delivered: int = 0
    duplicated: int = 0
    reordered: int = 0
    wrong: int = 0
    verified_in_flight: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    error_examples: dict[str, str] = field(default_factory=dict)
    body_bytes_sent: int = 0
    body_bytes_received: int = 0
    connections_opened: int = 0
    first_sent_ns: int | None = None
    last_received_ns: int = 0

    @property
    def span_s(self) -> float:
        return 0.0 if self.first_sent_ns is None else max(0, self.last_received_ns - self.first_sent_ns) / NS


class StreamRecorder:
    """Writes the record of streams and keeps the tally; of one event loop."""

    def __init__(
        self,
        record: Record,
        verify: Callable[[Request, Event], str | None],
        *,
        progress: Callable[[dict[str, Any]], None],
        most_kept_bytes: int,
    ) -> None:
        self.record = record
        self.tally = StreamTally()
        self.connections = 0
        self._verify = verify
        self._progress = progress
        self._most_kept_bytes = most_kept_bytes
        self._room = 2  # events that may still be kept; the second one shows how large they are
        self._largest = (
            MAX_MESSAGE_BYTES  # bytes of a message that may be kept; a larger one is no event of this stream
        )
        self._is_measured = False
        self._phase_number = 0
        self._phase_begin_ns = 0

    def begin(self, phase_number: int, begin_ns: int) -> None:
        self.tally = StreamTally()
        self._phase_number, self._phase_begin_ns = phase_number, begin_ns

    def connected(self) -> int:
        self.connections += 1
        self.tally.connections_opened += 1
        return self.connections - 1

    def received(self, subscription: Subscription, received_ns: int, event: tuple[Event, int]) -> None:
        """Keep an event, unless it is far larger than others; TooMany beyond twice what was asked for."""
        subscription.came += 1
        if subscription.came > _MOST_TIMES * subscription.most + 1:
            raise TooMany(f"{subscription.came:,} events came, {subscription.most:,} were asked for")
        if event[1] <= self._largest and (self._room > 0 or self._finds_room(event)):
            self._room -= 1
            subscription.kept.append((received_ns, event))
            return
        self.tally.verified_in_flight += 1
        self._store(subscription, received_ns, *event)

    def _finds_room(self, event: tuple[Event, int]) -> bool:
        if not self._is_measured:
            self._is_measured = True
            self._largest = 2 * event[1] + _OTHER_BYTES
            with suppress(RecursionError):  # nothing of such a nesting is an event: there is no room for more of them
                self._room = self._most_kept_bytes // (footprint(event[0]) + _OTHER_BYTES)
        return self._room > 0

    def settle(self, subscriptions: list[Subscription]) -> None:
        """Verify what was kept of a phase that is over, store its rows, and enter the subscriptions themselves."""
        for subscription in subscriptions:
            kept, subscription.kept = subscription.kept, []
            for received_ns, event in kept:
                self._store(subscription, received_ns, *event)
            self._room += len(kept)
            self._count(subscription)
            self._enter(subscription)

    def _store(self, subscription: Subscription, received_ns: int, event: Event, size: int) -> None:
        tally = self.tally
        try:
            reason = self._verify(subscription.request, event)
        except RecursionError:
            reason = "an event of too deep a nesting"
        tally.last_received_ns = max(tally.last_received_ns, received_ns)
        sequence: Any = event.get("sequence")
        sender_ns = event.get("sent_ns")
        if reason is not None:
            tally.wrong += 1
            tally.error_examples.setdefault("wrong-reply", quotable(reason)[:EXAMPLE_CHARACTERS])
        else:
            subscription.right.append((received_ns, sequence))
        subscription.bytes_received += size
        if type(sequence) is not int or not 0 < sequence <= subscription.most:
            return  # there is no event of that number that a row could be of; it is counted as wrong
        self.record.append_row(
            Row(
                sequence=sequence,
                phase=self._phase_number,
                connection=subscription.connection,
                intended_ns=subscription.sent_ns,
                sent_ns=subscription.sent_ns,
                received_ns=received_ns,
                service_ns=-1,
                bytes_sent=0,
                bytes_received=size,
                status=0 if reason is None else _WRONG,
                kind=_EVENT,
                parent=subscription.sequence,
                sender_ns=sender_ns if type(sender_ns) is int and 0 <= sender_ns < 1 << 62 else 0,
                sender_clock=_SENDER,
            )
        )

    def _count(self, subscription: Subscription) -> None:
        """What came once, again, and behind a higher number, in the order of receipt, in which not all were looked at."""
        tally, seen, highest = self.tally, set[int](), 0
        for _, sequence in sorted(subscription.right, key=lambda event: event[0]):
            if sequence in seen:
                tally.duplicated += 1
                continue
            tally.delivered += 1
            tally.reordered += sequence < highest
            seen.add(sequence)
            highest = max(highest, sequence)

    def _enter(self, subscription: Subscription) -> None:
        tally, failure = self.tally, subscription.failure
        tally.subscriptions += 1
        tally.offered += subscription.most
        tally.body_bytes_sent += max(0, subscription.bytes_sent)
        tally.body_bytes_received += subscription.bytes_received
        if tally.first_sent_ns is None or subscription.sent_ns < tally.first_sent_ns:
            tally.first_sent_ns = subscription.sent_ns
        if failure is not None:
            tally.errors[failure.status] += 1
            tally.error_examples.setdefault(failure.status, (failure.detail or failure.status)[:EXAMPLE_CHARACTERS])
        self.record.append(
            subscription.sequence,
            self._phase_number,
            subscription.connection,
            subscription.sent_ns,
            subscription.sent_ns,
            subscription.ended_ns,
            -1,
            subscription.bytes_sent,
            subscription.bytes_received,
            0 if failure is None else STATUSES.index(failure.status),
        )

    def report_progress(self, events: int, now_ns: int) -> None:
        """A progress line; who calls it does so once a second."""
        self._progress(progress_line(self._phase_number, events, now_ns - self._phase_begin_ns))
