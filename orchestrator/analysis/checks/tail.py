"""tail shape: single requests that make the SD, and tails that look cut off.

Latencies are skewed to the right: what delays a request has no upper limit. A slowest one per cent that ends where it
begins was clipped, was drawn from a formula, or is one time-out's value. A queue ends its tail like that too: all who
wait for one stall wait about as long; and so does a group of requests that all wait for the same, as for a delayed
acknowledgement (`latency modes`). So open loops, and windows in which those in flight are more than a tenth of that
one per cent, and tails that are a mode of their own are not judged by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import CALLS, CODECS, Check, Finding, worst
from orchestrator.analysis.checks.modes import find_modes, has_slow_mode
from orchestrator.analysis.evidence import CellEvidence, Samples, TrialEvidence
from orchestrator.analysis.statistics import is_supported, quantile

_SLOWEST = 0.5
_THIN = 1.03
_FEWEST = 100
_PER_ONE_IN_FLIGHT = 1_000


@dataclass(frozen=True, kw_only=True)
class Tail:
    """A trial's latencies in ns: mean, sum of squares about it, the slowest; `reach` is (max - min) / (p99 - min).

    `is_mode`: the slowest requests are a group of their own.
    """

    n: int
    mean_ns: float
    squares: float
    slowest_ns: int
    reach: float | None
    is_mode: bool


def observe(samples: Samples) -> Tail | None:
    """None with too few requests to have a tail."""
    ordered = samples.ordered_ns
    if ordered.size < _FEWEST:
        return None
    offsets = ordered - ordered[0]
    mean = float(offsets.mean())
    p99 = quantile(offsets, 0.99)
    return Tail(
        n=int(ordered.size),
        mean_ns=float(ordered[0]) + mean,
        squares=float(((offsets - mean) ** 2).sum()),
        slowest_ns=int(ordered[-1]),
        reach=float(offsets[-1]) / p99 if p99 > 0 and is_supported(ordered.size, 0.99) else None,
        is_mode=has_slow_mode(find_modes(ordered)),
    )


def judge(cell: CellEvidence) -> Finding | None:
    """The slowest request of each trial against the variance of all, and each trial's tail."""
    found = [(trial, part, seen) for trial, part, seen in cell.parts(NAME) if seen is not None]
    tails = [(trial, seen) for trial, _, seen in found]
    if not tails:
        return Finding(
            verdict="cannot tell",
            explanation=f"Fewer than {_FEWEST} requests per trial: too few to have a tail.",
            action="Ask for more requests per trial.",
        )
    findings = [_slowest([seen for _, seen in tails])]
    if not cell.is_open_loop:
        findings += [
            _cut_off(trial, seen) for trial, part, seen in found if seen.n >= _PER_ONE_IN_FLIGHT * part.load.concurrency
        ]
    return worst(findings)


def _slowest(tails: Sequence[Tail]) -> Finding:
    """Variances add up over trials about the mean of all: that of each about its own mean, and that of the means."""
    n = sum(tail.n for tail in tails)
    mean = sum(tail.n * tail.mean_ns for tail in tails) / n
    squares = sum(tail.squares + tail.n * (tail.mean_ns - mean) ** 2 for tail in tails)
    slowest = max(tail.slowest_ns for tail in tails)
    share = sum((tail.slowest_ns - mean) ** 2 for tail in tails) / squares if squares > 0 else 0.0
    evidence = {"n": n, "slowest": len(tails), "slowest_ms": slowest / 1e6, "share_of_variance": share}
    if share > _SLOWEST:
        whose = "the slowest one" if len(tails) == 1 else f"the slowest of each trial ({len(tails)} requests)"
        return Finding(
            verdict="warn",
            evidence=evidence,
            weight=share,
            explanation=(
                f"Of {words.count(n, 'request')}, {whose} made {words.percent(share)} of the variance, "
                f"taking up to {words.ns(slowest)}."
            ),
            action="Read median and percentiles; mean, SD and CV of this cell describe a handful of requests.",
        )
    return Finding(verdict="pass", evidence=evidence, explanation="No handful of requests dominates the variance.")


def _cut_off(trial: TrialEvidence, seen: Tail) -> Finding:
    evidence = {"trial": trial.record.index, **asdict(seen)}
    if seen.reach is not None and seen.reach < _THIN and seen.is_mode:
        measured = "The slowest requests are a group of their own, not a tail: see `latency modes`."
        return Finding(verdict="pass", evidence=evidence, explanation=measured)
    if seen.reach is not None and seen.reach < _THIN:
        return Finding(
            verdict="warn",
            evidence=evidence,
            explanation=f"The slowest of {seen.n:,} requests took barely longer than p99: the tail looks cut off.",
            action="Check whether slow requests were left out or cut at a limit; `completeness` counts them.",
        )
    return Finding(verdict="pass", evidence=evidence, explanation="The tail has a normal shape.")


NAME = "tail shape"
CHECK = Check(name=NAME, severity="note", kinds=CALLS | CODECS, observe=observe, judge=judge)
