"""floor: no reply can be quicker than the network between the two ends.

Three bounds, from the strictest to the loosest, and what each is worth:

* The kernel's own round trip of the measured sockets (TCP_INFO min_rtt). A reply acknowledges its request at the latest,
  so every call takes at least as long as its own segment's round trip; delayed acknowledgements make single round trips
  longer than the path, never the smallest one longer than the quickest call. Uncertain by its unit, 1 µs, and 5 %.
* The quickest ping of the block. ICMP may take another path and another moment, and few pings find a minimum later than
  many requests: uncertain by 10 %, by what the block's looks disagree, and by twice the distance from the quickest to
  the middle ping. On loopback a ping is mostly the pinging program's own system calls: never more than half is believed.
* The `tcp` echo of the same sizes, which is a program too: a quarter of its quickest exchange is a bound. An exchange that
  has to wake a sleeping CPU takes three times as long as one that has not, and where the two ends are not pinned, or with
  several requests in flight, either may be the case: there it is no bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import Check, Finding, worst
from orchestrator.analysis.evidence import CellEvidence, Part, Samples, TrialEvidence

_ACTION = (
    "Find out where the timer stops and who answers; do not publish this cell. `orch run` measures it again, the raw "
    "timings are in samples/."
)


@dataclass(frozen=True, kw_only=True)
class _Bound:
    """Quicker than `least_ns` by more than `uncertain_ns` is impossible."""

    name: str
    least_ns: float
    uncertain_ns: float


def observe(samples: Samples) -> int | None:
    """The quickest successful call, from its real send time."""
    return int(samples.call_ns.min()) if samples.call_ns.size else None


def judge(cell: CellEvidence) -> Finding | None:
    """Each trial's quickest call against every bound that was measured beside it."""
    findings = []
    for trial, part, quickest in cell.parts(NAME):
        bounds = list(_bounds(trial, part, cell))
        if quickest is not None and bounds:
            findings += [_finding(trial, quickest, bound) for bound in bounds]
    if not findings:
        return Finding(
            verdict="cannot tell",
            explanation="Neither ping, nor the socket's round trip, nor the tcp floor was measured beside this cell.",
            action="See the run's warnings for why there is no baseline.",
        )
    return worst(sorted(findings, key=lambda f: -f.evidence["shortfall"]))


def _bounds(trial: TrialEvidence, part: Part, cell: CellEvidence) -> Iterator[_Bound]:
    rtt_us = part.done.get("min_rtt_us")
    if rtt_us:
        yield _Bound(name="TCP_INFO min_rtt", least_ns=rtt_us * 1000, uncertain_ns=max(2000.0, 0.05 * rtt_us * 1000))
    pings = list(trial.looks_of("ping"))
    if pings:
        minima = [look.minimum_ns or 0 for look in pings]
        least = min(minima)
        spread = max(max(minima) - least, 2 * max((look.median_ns or 0) - (look.minimum_ns or 0) for look in pings))
        yield _Bound(name="ping", least_ns=least, uncertain_ns=min(max(0.1 * least, spread), least / 2))
    echoes = [look.minimum_ns or 0 for look in trial.looks_of("tcp", cell.cell.id)]
    if echoes and cell.is_pinned and cell.cell.load.concurrency == 1:
        yield _Bound(name="tcp echo", least_ns=min(echoes), uncertain_ns=0.75 * min(echoes))


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
    numbers = f"the quickest call took {words.ns(quickest_ns)}, the {bound.name} beside it {words.ns(bound.least_ns)}"
    if shortfall_ns > bound.uncertain_ns:
        return Finding(
            verdict="fail",
            evidence=evidence,
            weight=shortfall_ns / bound.least_ns,
            explanation=f"Impossible: {numbers}, uncertain by no more than {words.ns(bound.uncertain_ns)}.",
            action=_ACTION,
        )
    if shortfall_ns > 0 and bound.name != "tcp echo":
        return Finding(
            verdict="cannot tell",
            evidence=evidence,
            explanation=f"Close to the floor: {numbers}, which is within what that baseline is uncertain by.",
            action="More pings per look would narrow it; the socket's own round trip is the better bound.",
        )
    return Finding(verdict="pass", evidence=evidence, explanation=f"Above the floor: {numbers}.")


NAME = "floor"
CHECK = Check(name=NAME, severity="fatal", observe=observe, judge=judge)
