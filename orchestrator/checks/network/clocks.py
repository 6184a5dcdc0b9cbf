"""clocks: fine enough for what is measured, running forward, and the same clock all along.

Latencies are differences on the requester's own monotonic clock, so that clocks of two hosts never meet in a number that is
compared. Of streams deliveries are, on one host, where both stamps are of one clock; over a distance they are shown with a
bound on their error. An event received before it was sent is for the check `event stream`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from orchestrator.checks.base import CALLS, CODECS, STREAMS, Check, Finding, fails, passes
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.statistics.quantiles import quantile

_LOOKED_AT = 2_000
_WARN, _FAIL = 0.01, 0.1  # step of the clock, as a share of the median
_ANCHOR_NS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Stamps:
    """What the stamps themselves say of the clock. `quantum_ns`: all latencies looked at are multiples of it."""

    first_ns: int
    last_ns: int
    backwards: int
    quantum_ns: int
    median_ns: float


def observe(samples: Samples) -> Stamps | None:
    """None without a successful request."""
    calls = samples.call_ns
    if not calls.size:
        return None
    return Stamps(
        first_ns=int(samples.sent_ns[0]),
        last_ns=int(samples.received_ns.max()),
        backwards=int((calls < 0).sum()),
        quantum_ns=int(np.gcd.reduce(np.abs(calls[:_LOOKED_AT]))) if calls.size > 10 else 1,
        median_ns=quantile(samples.ordered_ns, 0.5),
    )


def judge(cell: CellEvidence) -> Iterator[Finding]:
    """Every requester's clock in every trial."""
    for trial, part, seen in cell.parts(NAME):
        yield _stamps(cell, trial, part, seen)


def _stamps(cell: CellEvidence, trial: TrialEvidence, part: Part, seen: Stamps) -> Finding:
    step_ns = max(float(part.done.clock_resolution_ns or 1.0), float(seen.quantum_ns))
    evidence = {
        "trial": trial.record.index,
        "step_ns": step_ns,
        "median_ns": seen.median_ns,
        "backwards": seen.backwards,
    }
    if seen.backwards and cell.cell.kind != "stream":
        return fails("backwards", evidence)
    first, last = part.done.anchor, part.done.anchor_end
    begin_ns, end_ns = first.monotonic_ns if first else -inf, last.monotonic_ns if last else inf
    is_between = begin_ns - _ANCHOR_NS <= seen.first_ns <= seen.last_ns <= end_ns + _ANCHOR_NS
    if first and last and not is_between:
        seen_ns = {"first_ns": seen.first_ns, "last_ns": seen.last_ns, "anchors_ns": [begin_ns, end_ns]}
        return fails("another-clock", evidence | seen_ns)
    share = step_ns / seen.median_ns if seen.median_ns > 0 else 1.0
    if share > _WARN:
        return Finding.of("fail" if share > _FAIL else "warn", "coarse", evidence, share=share)
    return passes("fine", evidence, share=share)


NAME = "clocks"
CHECK = Check(name=NAME, severity="fatal", kinds=CALLS | CODECS | STREAMS, observe=observe, judge=judge)
