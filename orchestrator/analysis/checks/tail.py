"""tail shape: one sample that makes the SD, and tails that look cut off.

Latencies are skewed to the right: what delays a request has no upper limit. A slowest one per cent that ends where it
begins was clipped, was drawn from a formula, or is one time-out's value.
"""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import Check, Finding, worst
from orchestrator.analysis.evidence import CellEvidence, Samples, TrialEvidence
from orchestrator.analysis.statistics import is_supported, quantile

_ONE_SAMPLE = 0.5
_THIN = 1.03


@dataclass(frozen=True, kw_only=True)
class Tail:
    """`largest_share`: of the variance, carried by the slowest sample; `reach`: (max - min) / (p99 - min)."""

    n: int
    slowest_ns: int
    largest_share: float
    reach: float | None


def observe(samples: Samples) -> Tail | None:
    """None with too few requests to have a tail."""
    ordered = samples.ordered_ns
    if ordered.size < 100:
        return None
    offsets = ordered - ordered[0]
    mean = float(offsets.mean())
    variance = float(((offsets - mean) ** 2).sum())
    p99 = quantile(offsets, 0.99)
    return Tail(
        n=int(ordered.size),
        slowest_ns=int(ordered[-1]),
        largest_share=(float(offsets[-1]) - mean) ** 2 / variance if variance > 0 else 0.0,
        reach=float(offsets[-1]) / p99 if p99 > 0 and is_supported(ordered.size, 0.99) else None,
    )


def judge(cell: CellEvidence) -> Finding | None:
    """Every trial's tail."""
    return worst([_finding(trial, seen) for trial, _part, seen in cell.parts(NAME) if seen is not None])


def _finding(trial: TrialEvidence, seen: Tail) -> Finding:
    evidence = {"trial": trial.record.index, **seen.__dict__}
    if seen.largest_share > _ONE_SAMPLE:
        return Finding(
            verdict="warn",
            evidence=evidence,
            explanation=(
                f"One request of {words.ns(seen.slowest_ns)} carries {words.percent(seen.largest_share)} of the variance "
                f"of trial {trial.record.index}."
            ),
            action="Read median and percentiles; mean, SD and CV of this cell describe that one request.",
        )
    if seen.reach is not None and seen.reach < _THIN:
        return Finding(
            verdict="warn",
            evidence=evidence,
            explanation=f"The slowest of {seen.n:,} requests took barely longer than p99: the tail looks cut off.",
            action="See whether slow requests were left out or cut at a limit; `completeness` counts them.",
        )
    return Finding(verdict="pass", evidence=evidence, explanation="The tail reaches out as latencies do.")


NAME = "tail shape"
CHECK = Check(
    name=NAME, severity="note", catches="one sample that makes the SD; a cut-off tail", observe=observe, judge=judge
)
