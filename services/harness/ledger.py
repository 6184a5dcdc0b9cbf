"""The books of a trial: every reply verified, every request a row, errors by kind. Called outside the timed window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from services.harness.client_api import CallFailed, Reply, Request
from services.harness.contract import STATUSES
from services.harness.phases import NS, PHASE_NAMES, Phase
from services.harness.record import Record

STATUS_INDEX: Mapping[str, int] = {name: index for index, name in enumerate(STATUSES)}
OK = STATUS_INDEX["ok"]
NOT_SENT = STATUS_INDEX["not-sent"]

MOST_FAILURES_IN_A_ROW = 50
MOST_SILENT_TIMEOUTS = 3
EXAMPLE_CHARACTERS = 300


class GaveUp(Exception):
    """Nothing succeeds any more; `kind` is the last failure's status."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Readable(Protocol):
    """What the books need of a connection, blocking or awaiting."""

    def value(self, reply: Any) -> Reply:
        """See `client_api.Connection.value`."""

    def sizes(self, request: Request, reply: Any) -> tuple[int, int]:
        """See `client_api.Connection.sizes`."""


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
    first_sent_ns: int | None = None
    last_received_ns: int = 0

    @property
    def span_s(self) -> float:
        """First send to last reply, seconds."""
        return 0.0 if self.first_sent_ns is None else (self.last_received_ns - self.first_sent_ns) / NS


class Ledger:
    """Writes the record and keeps the tally. Not thread-safe: threads call it under a lock."""

    def __init__(
        self,
        record: Record,
        verify: Callable[[Request, Reply], str | None],
        *,
        timeout_s: float,
        progress: Callable[[dict[str, Any]], None],
    ) -> None:
        self.record = record
        self.tally = Tally()
        self._verify = verify
        self._progress = progress
        self._phase_number = 0
        self._phase_begin_ns = 0
        self._next_progress_ns = 0
        self._silence_ns = int(MOST_SILENT_TIMEOUTS * timeout_s * NS)
        self._failures_in_a_row = 0
        self._last_success_ns = 0
        self._connections = 0

    def begin(self, phase: Phase) -> None:
        """Start a phase with an empty tally."""
        self.tally = Tally()
        self._phase_number = phase.number
        self._phase_begin_ns = self._last_success_ns = phase.begin_ns
        self._next_progress_ns = phase.begin_ns + NS
        self._failures_in_a_row = 0

    def connected(self) -> int:
        """The number of a connection that is opened now."""
        number = self._connections
        self._connections += 1
        self.tally.connections_opened += 1
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
        """A reply was decoded: verify it, and enter it as a latency only if it is right."""
        sent, received = connection.sizes(request, reply)
        try:
            reason = self._verify(request, connection.value(reply))
        except CallFailed as failure:
            self.failed(sequence, connection_number, intended_ns, sent_ns, received_ns, failure)
            return
        if reason is not None:
            wrong = CallFailed("wrong-reply", reason)
            self.failed(sequence, connection_number, intended_ns, sent_ns, received_ns, wrong, sent, received)
            return
        tally = self.tally
        tally.verified += 1
        tally.body_bytes_sent += sent
        tally.body_bytes_received += received
        self._failures_in_a_row = 0
        self._last_success_ns = received_ns
        self._enter(sequence, connection_number, intended_ns, sent_ns, received_ns, sent, received, OK)

    def failed(
        self,
        sequence: int,
        connection_number: int,
        intended_ns: int,
        sent_ns: int,
        received_ns: int,
        failure: CallFailed,
        bytes_sent: int = -1,
        bytes_received: int = -1,
    ) -> None:
        """A request ended without a right reply. GaveUp when nothing has succeeded for too long."""
        tally = self.tally
        tally.errors[failure.status] += 1
        words = failure.detail or failure.status
        tally.error_examples.setdefault(failure.status, words[:EXAMPLE_CHARACTERS])
        status = STATUS_INDEX[failure.status]
        self._enter(sequence, connection_number, intended_ns, sent_ns, received_ns, bytes_sent, bytes_received, status)
        self._failures_in_a_row += 1
        self._despair(failure, received_ns)

    def not_sent(self, sequence: int, intended_ns: int, now_ns: int) -> None:
        """A request of an open loop was due and not sent before the window closed, at `now_ns`: neither reply nor error."""
        self.tally.not_sent += 1
        self.record.append(sequence, self._phase_number, -1, intended_ns, now_ns, now_ns, -1, -1, -1, NOT_SENT)

    def _despair(self, failure: CallFailed, now_ns: int) -> None:
        if self._failures_in_a_row >= MOST_FAILURES_IN_A_ROW:
            raise GaveUp(failure.status, f"{self._failures_in_a_row} requests in a row failed; the last: {failure}")
        silent_ns = now_ns - self._last_success_ns
        if self._failures_in_a_row >= MOST_SILENT_TIMEOUTS and silent_ns > self._silence_ns:
            raise GaveUp(failure.status, f"no right reply for {silent_ns / NS:.0f} s; the last failure: {failure}")

    def _enter(
        self,
        sequence: int,
        connection_number: int,
        intended_ns: int,
        sent_ns: int,
        received_ns: int,
        bytes_sent: int,
        bytes_received: int,
        status: int,
    ) -> None:
        self.record.append(
            sequence,
            self._phase_number,
            connection_number,
            intended_ns,
            sent_ns,
            received_ns,
            -1,
            bytes_sent,
            bytes_received,
            status,
        )
        tally = self.tally
        tally.rows += 1
        tally.busy_ns += received_ns - sent_ns
        if tally.first_sent_ns is None or sent_ns < tally.first_sent_ns:
            tally.first_sent_ns = sent_ns
        if received_ns > tally.last_received_ns:
            tally.last_received_ns = received_ns
        if received_ns >= self._next_progress_ns:
            self._report_progress(received_ns)

    def _report_progress(self, now_ns: int) -> None:
        self._next_progress_ns = now_ns + NS
        self._progress(
            {
                "type": "progress",
                "phase": PHASE_NAMES[self._phase_number],
                "requests": self.tally.rows,
                "elapsed_s": round((now_ns - self._phase_begin_ns) / NS, 3),
            }
        )
