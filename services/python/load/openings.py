"""How long connections took to open, noted by the clients that know: TCP's handshake, and that of TLS behind it.

Nothing is asked of a library within a timed request of another: where several connections are opened at once, nothing is
noted.
"""

from __future__ import annotations

import time
from array import array

from services.python.contract.lines import Trial
from services.python.contract.requester_lines import Opening

_NS = 1_000_000_000

Begun = tuple[int, int]
"""When a connection began to open, and how many TLS handshakes had been noted by then."""


class Openings:
    """The books of one trial, all times in nanoseconds. What `is_kept` is false for is not noted at all."""

    def __init__(self, *, is_kept: bool = True) -> None:
        self._is_kept = is_kept
        self._connect_ns = array("q")
        self._tls_ns = array("q")

    def clear(self) -> None:
        self._connect_ns, self._tls_ns = array("q"), array("q")

    def begin(self) -> Begun:
        return time.monotonic_ns(), len(self._tls_ns)

    def opened(self, begun: Begun) -> None:
        """It is open. What was noted of TLS meanwhile is its own handshake, or several opened at once, as after a loss."""
        since_ns, handshakes = begun
        if self._is_kept and len(meanwhile := self._tls_ns[handshakes:]) <= 1:
            self._connect_ns.append(max(0, time.monotonic_ns() - since_ns - sum(meanwhile)))

    def connected(self, took_ns: int) -> None:
        if self._is_kept:
            self._connect_ns.append(took_ns)

    def secured(self, took_ns: int) -> None:
        if self._is_kept:
            self._tls_ns.append(took_ns)

    def told(self) -> Opening | None:
        """What was noted; None where that is nothing."""
        if not self._connect_ns and not self._tls_ns:
            return None
        return Opening(
            connections=max(len(self._connect_ns), len(self._tls_ns)),
            connect_s=_median(self._connect_ns),
            tls_s=_median(self._tls_ns),
        )


def openings_of(trial: Trial) -> Openings:
    """The books of a trial: empty to the end where several connections may open at once."""
    return Openings(is_kept=trial.connection == "reuse" or trial.load.concurrency == 1)


def _median(noted: array[int]) -> float | None:
    """In seconds; None of nothing. Without `statistics`, which costs milliseconds of every start of a requester."""
    ordered = sorted(noted)
    middle = len(ordered) // 2
    if not ordered:
        return None
    return (ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2) / _NS
