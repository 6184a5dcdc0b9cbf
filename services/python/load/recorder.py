"""The books of a trial: every reply verified, every request a row, errors by kind.

What is done between two requests stands in the latency of the others in flight, and leaves the caches cold for the next.
So a reply is kept beside its stamps, and `settle` verifies it and stores its row when the phase is over.
Still looked at at once are one reply a second, those that come while the last one looked at was wrong, so that a responder
that answers wrongly is found out in time, and those for which there is no memory left (`unverified.room_for_replies`).
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from services.python.contract.lines import STATUSES
from services.python.load.client import CallFailed, InParts, Part, Readable, Reply, Request
from services.python.load.phases import MEASURED, NS, Phase, progress_line
from services.python.load.record import KINDS, Record, Row
from services.python.load.unverified import Unverified
from services.python.operations.base import Lasting

STATUS_INDEX: Mapping[str, int] = {name: index for index, name in enumerate(STATUSES)}
OK = STATUS_INDEX["ok"]
NOT_SENT = STATUS_INDEX["not-sent"]
REQUEST, TASK, PART, MIXED = map(KINDS.index, ("request", "task", "part", "mixed"))

MOST_FAILURES_IN_A_ROW = 50
MOST_SILENT_TIMEOUTS = 3
EXAMPLE_CHARACTERS = 300
_MOST_KNOWN_ROWS = 4_096
_MOST_KNOWN_BYTES = 4_096  # of a body
# Of one reply in 64, spread without a period, the value is looked at, whatever its bytes.
_SPREADING, _ONE_IN = 0x9E3779B1, 63


Verdict = tuple[int, int, "CallFailed | None", "Sequence[Part]"]
"""Both bodies' sizes (-1 where the reply could not be read), why the reply is no right one, and its parts."""


@dataclass(frozen=True, slots=True)
class Known:
    """A reply that was found right: whoever answers the same request with the same bytes is right, too."""

    request: Request
    body: Any
    sizes: tuple[int, int]


_NO_REQUEST: Request = {}  # no request is this one


class GaveUp(Exception):
    """Nothing succeeds any more, or nothing that was measured can be trusted; `kind` is a failure's status."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(kw_only=True)
class Tally:
    """Counts of one phase. `rows` are the requests sent, `busy_ns` the time that they were under way, added up."""

    rows: int = 0
    not_sent: int = 0
    busy_ns: int = 0
    verified: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    error_examples: dict[str, str] = field(default_factory=dict)
    body_bytes_sent: int = 0
    body_bytes_received: int = 0
    connections_opened: int = 0
    verified_in_flight: int = 0
    verified_by_bytes: int = 0
    paused_ns: int = 0
    entering_ns: int = 0
    first_sent_ns: int | None = None
    last_received_ns: int = 0
    turns_ns: int = 0
    right: itertools.count[int] = field(default_factory=itertools.count)  # replies found right
    looked: itertools.count[int] = field(default_factory=itertools.count)  # ... or wrong, before the phase was over

    @property
    def span_s(self) -> float:
        """First send to last reply, seconds; of a phase in turns their sum."""
        if self.turns_ns or self.first_sent_ns is None:
            return self.turns_ns / NS
        return (self.last_received_ns - self.first_sent_ns) / NS


class Recorder:
    """Writes the record and keeps the tally; threads may call it at once.

    `kind` is that of a sample's row. Samples of a kind other than `request` and `mixed` have parts (`load.client.InParts`),
    whose rows follow their own. Those of kind `mixed` have a parent, the place of their operation in the mix from 1; each
    worker `each_has` so many kept connections. A reply is kept without a lock, which would have threads take turns.
    """

    def __init__(
        self,
        record: Record,
        verify: Callable[[Request, Reply], str | None],
        *,
        timeout_s: float,
        progress: Callable[[dict[str, Any]], None],
        most_kept_bytes: int = 0,
        kind: str = "request",
        parent_of: Callable[[int], int] = lambda _sequence: 0,
        each_has: int = 0,
    ) -> None:
        self.record = record
        self._kind = KINDS.index(kind)
        self._is_in_parts = self._kind not in (REQUEST, MIXED)
        self._parent_of, self._each_has = parent_of, each_has
        self._is_plain = self._kind == REQUEST  # one row a sample, of stamps alone
        self._parts = 0  # rows of parts in this phase
        self._in_turn = threading.Lock()  # for rows that stand together
        self._tally = Tally()
        self._of_turns = Tally()  # of all measured windows of a phase in turns
        self._first_row = self._counted = 0  # of the phase; from where on rows are not counted yet
        self._first_kept = (0, 0)  # of the replies that wait, and of those that are known to be right
        self._lock = threading.Lock()  # for all but replies that are kept
        self._verify = verify
        self._progress = progress
        self._phase_number = 0
        self._phase_begin_ns = 0
        self._next_progress_ns = 0
        self._silence_ns = int(MOST_SILENT_TIMEOUTS * timeout_s * NS)
        self._failures_in_a_row = 0
        self._last_success_ns = 0
        self._connections = 0
        self._shared: dict[int, int] = {}
        self._verifies_later = most_kept_bytes > 0
        self._kept = Unverified(most_kept_bytes)
        self._reader: Readable | None = None
        self._known = Known(_NO_REQUEST, None, (0, 0))
        self._known_rows: dict[int, Known] = {}  # by the id of a request that lasts
        self._kept_before = 0  # of those that wait, how many came before the last failure
        self._keeps = False  # replies of this phase
        self._keep_until_ns = 0  # replies before are kept; 0: none is

    def begin(self, phase: Phase) -> None:
        """Start a phase with an empty tally.

        In the warm-up no reply is kept: to verify them before the measured phase would leave connections idle.
        """
        self._tally = Tally()
        self._first_row = self._counted = self.record.rows
        self._failures_in_a_row = 0
        self._go_on(phase)

    def begin_in_turn(self, phase: Phase) -> None:
        """Start the warm-up or the window of a turn; all windows have one tally, and keep their replies for one `settle`."""
        self._tally = self._of_turns if phase.number == MEASURED else Tally()
        self._first_row = self.record.rows
        self._first_kept = (len(self._kept.waiting), len(self._kept.alike))
        self._go_on(phase)

    def end_turn(self) -> tuple[int, int]:
        """Count a turn whose window is over: how many requests it had, and when the last of them was answered."""
        waiting, alike = self._first_kept
        stamps = [row[4:6] for row in self.record.stored(self._first_row) if row.kind != PART]
        stamps += [kept[3:5] for kept in self._kept.waiting[waiting:]]
        stamps += [kept[3:5] for kept in self._kept.alike[alike:]]
        if not stamps:
            return 0, 0
        last_ns = max(received_ns for _, received_ns in stamps)
        self._tally.turns_ns += last_ns - min(sent_ns for sent_ns, _ in stamps)
        return len(stamps), last_ns

    def _go_on(self, phase: Phase) -> None:
        self._parts = 0
        self._phase_number = phase.number
        self._phase_begin_ns = self._last_success_ns = phase.begin_ns
        self._next_progress_ns = phase.begin_ns + NS
        self._keeps = self._verifies_later and phase.number == MEASURED
        self._keep_until_ns = self._next_progress_ns if self._keeps else 0

    @property
    def tally(self) -> Tally:
        """Counts of the phase so far, but for replies that are kept. Reads the rows that were not counted yet."""
        tally = self._tally
        for row in self.record.stored(self._counted) if self._counted < self.record.rows else ():
            self._counted += 1
            if row.kind == PART or row.phase != self._phase_number:
                continue
            if row.status == NOT_SENT:
                tally.not_sent += 1
                continue
            tally.rows += 1
            tally.busy_ns += row.received_ns - row.sent_ns
            if tally.first_sent_ns is None or row.sent_ns < tally.first_sent_ns:
                tally.first_sent_ns = row.sent_ns
            tally.last_received_ns = max(tally.last_received_ns, row.received_ns)
            if row.status == OK:
                tally.body_bytes_sent += row.bytes_sent
                tally.body_bytes_received += row.bytes_received
            else:
                tally.errors[STATUSES[row.status]] += 1
        tally.verified = _drawn(tally.right)
        return tally

    def paused(self, *, paused_ns: int | None, entering_ns: int) -> None:
        """Enter how long workers paused, on average (None where that does not count), and were busy here, together."""
        if paused_ns is not None:
            self._tally.paused_ns += paused_ns
        self._tally.entering_ns += entering_ns

    def connected(self, shared: int | None = None) -> int:
        """The number of a connection that is opened now; of one that lanes share (`client.Connection`) always the same."""
        with self._lock:
            if shared is not None and shared in self._shared:
                return self._shared[shared]
            number = self._connections
            self._connections += 1
            self._tally.connections_opened += 1
            if shared is not None:
                self._shared[shared] = number
        return number

    @property
    def connections(self) -> int:
        """All connections opened so far."""
        return self._connections

    def replied(
        self,
        sequence: int,
        connection_number: int,
        intended_ns: int,
        sent_ns: int,
        received_ns: int,
        connection: Readable,
        request: Request,
        reply: Any,
    ) -> None:
        """A reply was decoded: keep it for `settle`, or verify it. GaveUp as `failed`."""
        if received_ns < self._keep_until_ns:
            kept, known = self._kept, self._known_rows.get(id(request), self._known)
            waiting = kept.waiting
            is_asked_again = request is known.request
            is_alike = is_asked_again and connection.body == known.body
            if is_alike and sequence * _SPREADING >> 20 & _ONE_IN:
                alike = kept.alike
                if len(alike) < kept.most_alike:
                    alike.append((sequence, connection_number, intended_ns, sent_ns, received_ns, known.sizes))
                    return
            # Right replies of a person's own service to one row may differ: then they wait.
            elif (is_alike or not is_asked_again or known is not self._known) and (
                len(waiting) < kept.most or kept.has_room()
            ):
                waiting.append((sequence, connection_number, intended_ns, sent_ns, received_ns, request, reply))
                self._reader = connection  # any of them reads the replies of all; none is kept alive for its own
                return
        verdict = self._judge(connection, request, reply)
        wrong = verdict[2]
        if self._verifies_later:
            next(self._tally.looked)
        self._store(sequence, connection_number, intended_ns, sent_ns, received_ns, verdict)
        if received_ns >= self._next_progress_ns:
            with self._lock:
                if received_ns >= self._next_progress_ns:
                    self._report_progress(received_ns)
        if wrong is None:
            self._failures_in_a_row = 0
            self._last_success_ns = received_ns
            self._keep_until_ns = self._next_progress_ns if self._keeps else 0
            if self._verifies_later and (body := connection.body) is not None and request is not self._known.request:
                self._know(Known(request, body, verdict[:2]))
            return
        with self._lock:
            self._note_example(wrong)
            self._keep_until_ns = 0
            self._fail_once_more(wrong, received_ns)

    def _know(self, known: Known) -> None:
        if not isinstance(known.request, Lasting):
            self._known = known
        elif len(self._known_rows) < _MOST_KNOWN_ROWS and len(known.body) <= _MOST_KNOWN_BYTES:
            self._known_rows[id(known.request)] = known

    def _store(
        self, sequence: int, connection_number: int, intended_ns: int, sent_ns: int, received_ns: int, verdict: Verdict
    ) -> None:
        sent, received, wrong, parts = verdict
        status = OK if wrong is None else STATUS_INDEX[wrong.status]
        if not self._is_plain:
            stamps = (intended_ns, sent_ns, received_ns)
            self._store_in_parts(sequence, connection_number, stamps, (sent, received, status), parts)
            return
        self.record.append(
            sequence,
            self._phase_number,
            connection_number,
            intended_ns,
            sent_ns,
            received_ns,
            -1,
            sent,
            received,
            status,
        )

    def _store_in_parts(
        self,
        sequence: int,
        connection_number: int,
        stamps: tuple[int, int, int],
        ending: tuple[int, int, int],
        parts: Sequence[Part],
    ) -> None:
        """Store a sample, and behind it its parts. `ending`: both bodies' sizes and the status."""
        parent = self._parent_of(sequence)
        if parent and self._each_has and connection_number >= 0:
            connection_number = connection_number * self._each_has + parent - 1
        with self._in_turn:
            self._parts += len(parts)
            self.record.append_row(
                Row(sequence, self._phase_number, connection_number, *stamps, -1, *ending, self._kind, parent)
            )
            for place, part in enumerate(parts, start=1):
                self.record.append_row(
                    Row(
                        place,
                        self._phase_number,
                        connection_number,
                        part.sent_ns,
                        part.sent_ns,
                        part.received_ns,
                        -1,
                        part.bytes_sent,
                        part.bytes_received,
                        OK if part.failure is None else STATUS_INDEX[part.failure.status],
                        kind=PART,
                        parent=sequence,
                    )
                )

    def settle(self) -> None:
        """Verify what was kept in the phase that is over, and store its rows.

        GaveUp when as many in a row are wrong as end a phase.
        """
        self._tally.verified_in_flight = _drawn(self._tally.looked)
        self._tally.verified_by_bytes = len(self._kept.alike)
        wrong_in_a_row = 0
        hopeless: CallFailed | None = None
        reader, self._reader = self._reader, None
        for sequence, number, intended_ns, sent_ns, received_ns, (sent, received) in self._kept.take_alike():
            next(self._tally.right)
            self._store(sequence, number, intended_ns, sent_ns, received_ns, (sent, received, None, ()))
        for sequence, number, intended_ns, sent_ns, received_ns, request, reply in self._kept.take():
            assert reader is not None  # noqa: S101 - narrows the type
            verdict = self._judge(reader, request, reply)
            self._store(sequence, number, intended_ns, sent_ns, received_ns, verdict)
            wrong = verdict[2]
            if wrong is None:
                wrong_in_a_row = 0
                continue
            self._note_example(wrong)
            wrong_in_a_row += 1
            if wrong_in_a_row >= MOST_FAILURES_IN_A_ROW:
                hopeless = wrong
        self._kept_before = 0
        if hopeless is not None:
            raise GaveUp(
                hopeless.status, f"{MOST_FAILURES_IN_A_ROW} or more replies in a row were wrong; the last: {hopeless}"
            )

    def _judge(self, reader: Readable, request: Request, reply: Any) -> Verdict:
        """See `Verdict`. A task is right when each of its parts is: its connection has verified them."""
        parts = cast("InParts", reader).parts(request, reply) if self._is_in_parts else ()
        sent, received = reader.sizes(request, reply)
        if self._kind == TASK:
            wrong = next((part.failure for part in parts if part.failure is not None), None)
        else:
            try:
                reason = self._verify(request, reader.value(reply))
            except CallFailed as failure:
                return -1, -1, failure, parts
            wrong = None if reason is None else CallFailed("wrong-reply", reason)
        if wrong is None:
            next(self._tally.right)
        return sent, received, wrong, parts

    def _note_example(self, failure: CallFailed) -> None:
        words = failure.detail or failure.status
        self._tally.error_examples.setdefault(failure.status, words[:EXAMPLE_CHARACTERS])

    def failed(
        self,
        sequence: int,
        connection_number: int,
        intended_ns: int,
        sent_ns: int,
        received_ns: int,
        failure: CallFailed,
    ) -> None:
        """A request ended without a reply that could be read. GaveUp when nothing has succeeded for too long."""
        with self._lock:
            self._note_example(failure)
            verdict = (-1, -1, failure, failure.parts())
            self._store(sequence, connection_number, intended_ns, sent_ns, received_ns, verdict)
            if received_ns >= self._next_progress_ns:
                self._report_progress(received_ns)
            self._fail_once_more(failure, received_ns)

    def not_sent(self, sequence: int, intended_ns: int, now_ns: int) -> None:
        """A request of an open loop was due and not sent before the window closed, at `now_ns`: neither reply nor error."""
        verdict = (-1, -1, CallFailed("not-sent"), ())
        self._store(sequence, -1, intended_ns, now_ns, now_ns, verdict)

    def _fail_once_more(self, failure: CallFailed, now_ns: int) -> None:
        """GaveUp when nothing has succeeded for too long. A reply that was kept since the last failure is a success."""
        if self._kept.count > self._kept_before:
            self._kept_before = self._kept.count
            self._failures_in_a_row = 0
            self._last_success_ns = self._kept.latest_ns
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= MOST_FAILURES_IN_A_ROW:
            raise GaveUp(failure.status, f"{self._failures_in_a_row} requests in a row failed; the last: {failure}")
        silent_ns = now_ns - self._last_success_ns
        if self._failures_in_a_row >= MOST_SILENT_TIMEOUTS and silent_ns > self._silence_ns:
            raise GaveUp(failure.status, f"no right reply for {silent_ns / NS:.0f} s; the last failure: {failure}")

    def _report_progress(self, now_ns: int) -> None:
        """At most one line a second. A reply that comes after it is looked at, however many failures come before."""
        self._next_progress_ns = now_ns + NS
        requests = self.record.rows - self._first_row - self._parts + self._kept.count
        self._progress(progress_line(self._phase_number, requests, now_ns - self._phase_begin_ns))


def _drawn(numbers: itertools.count[int]) -> int:
    """How many numbers were drawn, which threads do without a lock."""
    return int(numbers.__reduce__()[1][0])
