"""queueing ramp: latency must not grow with a request's number in its trial.

It does where everything was sent at once, or more is offered than can be served.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orchestrator.checks.base import CALLS, CODECS, Check, Finding, cannot_tell, in_most, passes
from orchestrator.evidence.run_evidence import CellEvidence, Samples, TrialEvidence
from orchestrator.findings.check_result import Overload

_FEWEST = 100
_MOST_RANKED = 5_000


@dataclass(frozen=True, kw_only=True)
class Ramp:
    """Rank correlation of latency with place, and how many times longer the last tenth takes than the first."""

    correlation: float
    growth: float


def observe(samples: Samples) -> Ramp | None:
    """None with too few requests to tell."""
    latency = samples.latency_ns
    if latency.size < _FEWEST:
        return None
    latency = latency[:: max(1, latency.size // _MOST_RANKED)]
    tenth = latency.size // 10
    first, last = np.median(latency[:tenth]), np.median(latency[-tenth:])
    # Spearman's, ties ranked in order of appearance, which is enough to tell a ramp.
    ranks = np.argsort(np.argsort(latency, kind="stable"), kind="stable")
    correlation = float(np.corrcoef(np.arange(latency.size), ranks)[0, 1])
    return Ramp(correlation=correlation, growth=float(last / first) if first > 0 else 1.0)


def judge(cell: CellEvidence) -> list[Finding]:
    """The steepest ramp of the cell's trials."""
    ramps = [_finding(cell, trial, ramp) for trial, _, ramp in cell.parts(NAME)]
    return in_most(ramps, len(cell.trials))


def _finding(cell: CellEvidence, trial: TrialEvidence, ramp: Ramp) -> Finding:
    evidence = {
        "trial": trial.record.index,
        "rank_correlation": round(ramp.correlation, 3),
        "last_to_first_tenth": round(ramp.growth, 2),
    }
    if ramp.correlation <= 0.7 or ramp.growth <= 2:
        return passes("level", evidence)
    rate, is_certain = cell.cell.load.rate_per_s, ramp.correlation > 0.9 and ramp.growth > 3
    kind = "grows-at-a-rate" if cell.is_open_loop else "grows"
    overload = Overload(planned_per_s=rate, delivered_per_s=None) if rate and is_certain else None
    return Finding.of("fail" if is_certain else "warn", kind, evidence, overload=overload, growth=ramp.growth)


NAME = "queueing ramp"
CHECK = Check(
    name=NAME,
    severity="serious",
    kinds=CALLS | CODECS,
    observe=observe,
    judge=judge,
    otherwise=cannot_tell("too-few", requests=_FEWEST),
)
