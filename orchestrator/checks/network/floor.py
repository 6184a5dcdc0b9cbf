"""floor: no reply can be faster than the network between the two ends.

Two bounds, from the strictest to the loosest:

* The kernel's own round trip of the measured sockets (TCP_INFO min_rtt): a reply acknowledges its request at the latest.
  Uncertain by its unit, 1 µs, and 5 %.
* The fastest ping of the block. ICMP may take another path and another moment: uncertain by 10 %, by what the block's
  readings disagree, and by twice the distance from the fastest to the middle ping. On loopback a ping is mostly the pinging
  program's own system calls: never more than half of it counts.

A task of n calls takes n of each at least. The ping may have been disturbed where the calls were not: below it a cell fails
where most of its trials are, and warns otherwise. HTTP/3 has no sockets of TCP: ping remains. Who answers a ping to a
responder that orch did not start is not known: it is no bound. Nor is the `tcp` exchange of the same bodies, which may have
to wake a sleeping CPU: what a clock leaves out of a large body is in the pause after it (*Little's law*).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator import quantities
from orchestrator.checks.base import CALLS, Check, Finding, cannot_tell, fails, in_most, passes
from orchestrator.evidence.run_evidence import BaselineReading, CellEvidence, Part, Samples, TrialEvidence

_MIN_RTT = "TCP_INFO min_rtt"

_ACTION = (
    "Do not publish this cell. Find out where the timer stops and who answers (raw timings are in samples/), then "
    "measure again."
)


@dataclass(frozen=True, kw_only=True)
class _Bound:
    """Faster than `least_ns` by more than `uncertain_ns` is impossible."""

    name: str
    least_ns: float
    uncertain_ns: float
    work: str = "call"

    def of_task(self, calls: int) -> _Bound:
        """The bound of so many calls, one after the other; itself for one."""
        if calls == 1:
            return self
        name, least_ns, uncertain_ns = f"{self.name} of {calls} calls", self.least_ns * calls, self.uncertain_ns * calls
        return _Bound(name=name, least_ns=least_ns, uncertain_ns=uncertain_ns, work="task")


def observe(samples: Samples) -> int | None:
    """The fastest successful call or task, from sending, in ns; None without one."""
    return int(samples.call_ns.min()) if samples.call_ns.size else None


def judge(cell: CellEvidence) -> list[Finding]:
    """Each trial's fastest call against every bound that was measured beside it."""
    findings = list(_findings(cell))
    if not findings:
        without = "No ping or socket round trip was measured with this cell."
        if cell.is_external:
            ping = "who answers a ping to the address of a service that is not ours is not known"
            without = f"No socket round trip was measured with this cell, and {ping}."
        return [cannot_tell(without, "See the run's warnings for the reason.")]
    exact = [finding for finding in findings if finding.evidence["bound"].startswith(_MIN_RTT)]
    beside = [finding for finding in findings if not finding.evidence["bound"].startswith(_MIN_RTT)]
    findings = [*exact, *in_most(beside, len(cell.trials))]
    return sorted(findings, key=lambda finding: -finding.evidence["shortfall"])


def _findings(cell: CellEvidence) -> Iterator[Finding]:
    for trial, part, fastest_ns in cell.parts(NAME):
        for bound in _bounds(trial, part, cell):
            yield _finding(trial, fastest_ns, bound.of_task(cell.cell.in_a_row))


def _bounds(trial: TrialEvidence, part: Part, cell: CellEvidence) -> Iterator[_Bound]:
    rtt_us = part.done.min_rtt_us
    if rtt_us:
        yield _Bound(name=_MIN_RTT, least_ns=rtt_us * 1000, uncertain_ns=max(2000.0, 0.05 * rtt_us * 1000))
    pings = list(trial.readings_of("ping"))
    if pings and not cell.is_external:
        least = min(reading.minimum_ns or 0 for reading in pings)
        uncertain_ns = min(max(0.1 * least, _disagreement(pings)), least / 2)
        yield _Bound(name="ping", least_ns=least, uncertain_ns=uncertain_ns)


def _disagreement(readings: Sequence[BaselineReading]) -> float:
    """How far a block's readings lie apart, or within one the fastest and twice the middle."""
    minima = [reading.minimum_ns or 0 for reading in readings]
    within = max((reading.median_ns or 0) - (reading.minimum_ns or 0) for reading in readings)
    return max(max(minima) - min(minima), 2 * within)


def _finding(trial: TrialEvidence, quickest_ns: int, bound: _Bound) -> Finding:
    shortfall_ns = bound.least_ns - quickest_ns
    evidence = {
        "trial": trial.record.index,
        "quickest_ms": quickest_ns / 1e6,
        "bound": bound.name,
        "bound_ms": bound.least_ns / 1e6,
        "uncertain_ms": bound.uncertain_ns / 1e6,
        "shortfall": shortfall_ns / bound.least_ns,
    }
    numbers = (
        f"the fastest {bound.work} took {quantities.ns(quickest_ns)}, the {bound.name} {quantities.ns(bound.least_ns)}"
    )
    if shortfall_ns > bound.uncertain_ns:
        return fails(
            f"Impossible: {numbers}, with an uncertainty of no more than {quantities.ns(bound.uncertain_ns)}.",
            _ACTION,
            evidence,
            weight=shortfall_ns / bound.least_ns,
        )
    if shortfall_ns > 0:
        return cannot_tell(
            f"Close to the floor: {numbers}, a difference within the uncertainty of that baseline.",
            "Measure on Linux, where the socket's own round trip is a better bound.",
            evidence,
        )
    return passes(f"Above the floor: {numbers}.", evidence)


NAME = "floor"
CHECK = Check(name=NAME, severity="fatal", kinds=CALLS, observe=observe, judge=judge)
