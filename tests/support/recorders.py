"""Recorders that enter something else than what happened; see `support.faults`."""

from __future__ import annotations

import time
from typing import Any

from services.python.load.recorder import Recorder


class OneStampPerBatch(Recorder):
    """Ten requests in a row are entered with the send stamp of the first."""

    _stamp = 0

    def replied(self, sequence: int, number: int, intended_ns: int, sent_ns: int, *rest: Any) -> None:
        if sequence % 10 == 1 or not self._stamp:
            self._stamp = sent_ns
        super().replied(sequence, number, self._stamp, self._stamp, *rest)


class PlaceInLine(Recorder):
    """Every latency counts from about when the phase began, as if all requests had been put in a queue then."""

    _begun = 0
    _of_phase = -1

    def replied(self, sequence: int, number: int, intended_ns: int, sent_ns: int, *rest: Any) -> None:
        if self._of_phase != self._phase_number:
            self._of_phase, self._begun = self._phase_number, sent_ns - sequence
        stamp = self._begun + sequence
        super().replied(sequence, number, stamp, stamp, *rest)


class CpuTimePerCall(Recorder):
    """Honest stamps of sending, but a latency is the CPU time that this process used since the reply before."""

    _used = 0

    def replied(self, sequence: int, number: int, intended_ns: int, sent_ns: int, received_ns: int, *rest: Any) -> None:
        used, self._used = time.process_time_ns() - self._used, time.process_time_ns()
        super().replied(sequence, number, intended_ns, sent_ns, min(received_ns, sent_ns + used), *rest)


def clock_that_stops_at(share: float) -> type[Recorder]:
    """Enters only that share of each latency, from the send stamp on."""

    class StopsEarly(Recorder):
        def replied(
            self, sequence: int, number: int, intended_ns: int, sent_ns: int, received_ns: int, *rest: Any
        ) -> None:
            stopped_ns = sent_ns + int((received_ns - sent_ns) * share)
            super().replied(sequence, number, intended_ns, sent_ns, stopped_ns, *rest)

    return StopsEarly


class SlowOnesDropped(Recorder):
    """Leaves out every twentieth request, as a client that gives up on slow ones would."""

    def replied(self, sequence: int, *rest: Any) -> None:
        if sequence % 20:
            super().replied(sequence, *rest)


class Unverified(Recorder):
    """Enters replies without looking at them."""

    def replied(self, sequence: int, number: int, intended_ns: int, sent_ns: int, received_ns: int, *rest: Any) -> None:
        connection, request, reply = rest
        sent, received = connection.sizes(request, reply)
        self._store(sequence, number, intended_ns, sent_ns, received_ns, (sent, received, None, ()))
