"""tail shape: tails that look cut off.

Latencies are skewed to the right: what delays a request has no upper limit. A slowest one per cent that ends where it
begins was clipped, was drawn from a formula, or is one time-out's value. A queue ends its tail like that too: all who
wait for one stall wait about as long; and so does a group of requests that all wait for the same, as for a delayed
acknowledgement (`latency modes`). So open loops, and windows in which those in flight are more than a tenth of that
one per cent, and tails that are a mode of their own are not judged by it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from orchestrator.checks.base import CALLS, CODECS, Check, Finding, not_applicable, passes, too_few, warns, worst
from orchestrator.checks.latency.modes import find_modes, has_slow_mode
from orchestrator.evidence.run_evidence import CellEvidence, Samples, TrialEvidence
from orchestrator.statistics.quantiles import is_supported, quantile

_THIN = 1.03
_FEWEST = 100
_PER_ONE_IN_FLIGHT = 1_000


@dataclass(frozen=True, kw_only=True)
class Tail:
    """A trial's tail: `reach` is (max - min) / (p99 - min); `is_mode`: the slowest requests are a group of their own."""

    n: int
    reach: float | None
    is_mode: bool


def observe(samples: Samples) -> Tail | None:
    """None with too few requests to have a tail."""
    ordered = samples.ordered_ns
    if ordered.size < _FEWEST:
        return None
    offsets = ordered - ordered[0]
    p99 = quantile(offsets, 0.99)
    return Tail(
        n=int(ordered.size),
        reach=float(offsets[-1]) / p99 if p99 > 0 and is_supported(ordered.size, 0.99) else None,
        is_mode=has_slow_mode(find_modes(ordered)),
    )


def judge(cell: CellEvidence) -> Finding | None:
    """Each trial's tail."""
    tails = list(cell.parts(NAME))
    judged = [(t, seen) for t, part, seen in tails if seen.n >= _PER_ONE_IN_FLIGHT * part.load.concurrency]
    if tails and (cell.is_open_loop or not judged):
        return not_applicable("A queue, or too few requests for each in flight, shapes the tail.")
    return worst(_cut_off(trial, seen) for trial, seen in judged)


def _cut_off(trial: TrialEvidence, seen: Tail) -> Finding:
    evidence = {"trial": trial.record.index, **asdict(seen)}
    if seen.reach is None or seen.reach >= _THIN:
        return passes("The tail has a normal shape.", evidence)
    if seen.is_mode:
        return passes("The slowest requests are a group of their own, not a tail: see `latency modes`.", evidence)
    return warns(
        f"The slowest of {seen.n:,} requests took barely longer than p99: the tail looks cut off.",
        "Check whether slow requests were left out or cut at a limit; `completeness` counts them.",
        evidence,
    )


NAME = "tail shape"
CHECK = Check(
    name=NAME,
    severity="note",
    kinds=CALLS | CODECS,
    observe=observe,
    judge=judge,
    otherwise=too_few(_FEWEST, "to have a tail"),
)
