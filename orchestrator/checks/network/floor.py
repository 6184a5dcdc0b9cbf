"""floor: no reply can be faster than the network between the two ends.

Three bounds, from the strictest to the loosest:

* The kernel's own round trip of the measured sockets (TCP_INFO min_rtt): a reply acknowledges its request at the latest.
  Uncertain by its unit, 1 µs, and 5 %.
* The fastest ping of the block. ICMP may take another path and another moment: uncertain by 10 %, by what the block's
  readings disagree, and by twice the distance from the fastest to the middle ping. On loopback a ping is mostly the pinging
  program's own system calls: never more than half of it counts.
* The `tcp` exchange of the same bodies. One that has to wake a sleeping CPU takes three times as long as one that has not:
  on one machine a quarter of the fastest is a bound, and none where ends are not pinned or several requests are in flight.
  Over a distance it is as uncertain as the ping. Beyond TCP's initial window it bounds only where a larger exchange has
  opened the window of its kept connection; a call faster than an exchange that is no bound is shown as that.

A mix has no exchange of as many bytes. A task of n calls takes n of each at least. Ping and exchange may have been
disturbed where the calls were not: below these a cell fails where most of its trials are, and warns otherwise. HTTP/3 has
no sockets of TCP: ping remains, and the exchange of a body within TCP's initial window. Who answers a ping to a responder
that orch did not start is not known: it is no bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.checks.base import CALLS, Check, Finding, cannot_tell, fails, in_most, passes, point
from orchestrator.evidence.run_evidence import BaselineReading, CellEvidence, Part, Samples, TrialEvidence
from orchestrator.experiment.model.factors import is_in_pieces

INITIAL_WINDOW_BYTES = 10 * 1448  # RFC 6928, with the usual segment of an Ethernet path
_EXCHANGE, _MIN_RTT = "tcp exchange", "TCP_INFO min_rtt"


@dataclass(frozen=True, kw_only=True)
class _Bound:
    """Faster than `least_ns` by more than `uncertain_ns` is impossible; `why_not` says why it is not, after all."""

    name: str
    least_ns: float
    uncertain_ns: float
    why_not: str | None = None
    is_of_each_call: bool = True
    calls: int = 1

    @property
    def label(self) -> str:
        """Its name, and of how many calls it is."""
        return self.name if self.calls == 1 else f"{self.name} of {self.calls} calls"

    def of_task(self, calls: int) -> _Bound:
        """The bound of so many calls, one after the other; itself for one."""
        if calls == 1 or not self.is_of_each_call:
            return self
        return replace(self, calls=calls, least_ns=self.least_ns * calls, uncertain_ns=self.uncertain_ns * calls)


def observe(samples: Samples) -> int | None:
    """The fastest successful call or task, from sending, in ns; None without one."""
    return int(samples.call_ns.min()) if samples.call_ns.size else None


def judge(cell: CellEvidence) -> list[Finding]:
    """Each trial's fastest call against every bound that was measured beside it."""
    findings = list(_findings(cell))
    if not findings:
        return [cannot_tell("no-bound-of-own-service" if cell.is_external else "no-bound")]
    exact = [finding for bound, finding in findings if bound.name == _MIN_RTT]
    beside = [finding for bound, finding in findings if bound.name != _MIN_RTT]
    return sorted([*exact, *in_most(beside, len(cell.trials))], key=lambda finding: -finding.evidence["shortfall"])


def _findings(cell: CellEvidence) -> Iterator[tuple[_Bound, Finding]]:
    is_far = cell.placement.kind != "local"
    for trial, part, fastest_ns in cell.parts(NAME):
        for bound in _bounds(trial, part, cell):
            yield bound, _finding(trial, fastest_ns, bound.of_task(cell.cell.in_a_row), is_far=is_far)


def _bounds(trial: TrialEvidence, part: Part, cell: CellEvidence) -> Iterator[_Bound]:
    rtt_us, is_far = part.done.min_rtt_us, cell.placement.kind != "local"
    if rtt_us:
        yield _Bound(name=_MIN_RTT, least_ns=rtt_us * 1000, uncertain_ns=max(2000.0, 0.05 * rtt_us * 1000))
    pings = list(trial.readings_of("ping"))
    if pings and not cell.is_external:
        least = min(reading.minimum_ns or 0 for reading in pings)
        yield _Bound(
            name="ping",
            least_ns=least,
            uncertain_ns=min(max(0.1 * least, _disagreement(pings)), least / 2),
        )
    echoes = [] if cell.operation.mix else list(trial.readings_of("tcp", cell.cell.id))
    if echoes:
        least = min(reading.minimum_ns or 0 for reading in echoes)
        yield _Bound(
            name=_EXCHANGE,
            least_ns=least,
            uncertain_ns=max(0.1 * least, _disagreement(echoes)) if is_far else 0.75 * least,
            why_not=_why_no_bound(cell, echoes),
            # Where an operation takes several requests, the exchange has the bodies of all of them.
            is_of_each_call=cell.cell.connection == "reuse" and not is_in_pieces(cell.cell.factors),
        )


def _disagreement(readings: Sequence[BaselineReading]) -> float:
    """How far a block's readings lie apart, or within one the fastest and twice the middle."""
    minima = [reading.minimum_ns or 0 for reading in readings]
    within = max((reading.median_ns or 0) - (reading.minimum_ns or 0) for reading in readings)
    return max(max(minima) - min(minima), 2 * within)


def _why_no_bound(cell: CellEvidence, echoes: Sequence[BaselineReading]) -> str | None:
    """Why an exchange of the same bodies may have taken longer than a call must; None where it may not."""
    if cell.cell.load.concurrency > 1:
        return "several-in-flight"
    if not cell.is_pinned:
        return "not-pinned"
    largest = max(max(reading.record.send_bytes, reading.record.receive_bytes) for reading in echoes)
    if cell.cell.is_over_quic and largest > INITIAL_WINDOW_BYTES:
        return "over-quic"
    if largest <= INITIAL_WINDOW_BYTES or all(reading.record.opened for reading in echoes):
        return None
    if cell.cell.connection == "per-request":
        return "new-connection"
    return "narrow-window"


def _finding(trial: TrialEvidence, quickest_ns: int, bound: _Bound, *, is_far: bool) -> Finding:
    shortfall_ns = bound.least_ns - quickest_ns
    evidence: dict[str, Any] = {
        "trial": trial.record.index,
        "quickest_ms": quickest_ns / 1e6,
        "bound": bound.label,
        "bound_ms": bound.least_ns / 1e6,
        "uncertain_ms": bound.uncertain_ns / 1e6,
        "shortfall": shortfall_ns / bound.least_ns,
    }
    work = "call" if bound.calls == 1 else "task"
    numbers: dict[str, Any] = {"work": work, "quickest_ns": quickest_ns, "least_ns": bound.least_ns}
    if bound.why_not is not None and shortfall_ns > 0:
        # On one machine this happens every day; over a distance it makes the share above the floor meaningless.
        finds = cannot_tell if is_far and shortfall_ns > bound.uncertain_ns else passes
        points = point("below", **numbers), point(bound.why_not)
        return finds(points, {**evidence, "why_no_bound": bound.why_not})
    if shortfall_ns > bound.uncertain_ns:
        return fails("impossible", evidence, weight=evidence["shortfall"], uncertain_ns=bound.uncertain_ns, **numbers)
    if shortfall_ns > 0 and bound.name == _EXCHANGE:
        return passes("at-uncertain-floor" if is_far else "at-floor", evidence, **numbers)
    if shortfall_ns > 0:
        return cannot_tell("close", evidence, **numbers)
    return passes("above", evidence, **numbers)


NAME = "floor"
CHECK = Check(name=NAME, severity="fatal", kinds=CALLS, observe=observe, judge=judge)
