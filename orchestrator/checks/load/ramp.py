"""queueing ramp: latency must not grow with a request's number in its trial or burst.

Two shapes: over the whole trial (everything was sent at once, or the offered load is more than can be served), and
within bursts of sends (batches, each reply's latency holding the wait for those before it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orchestrator.checks.base import CALLS, CODECS, Check, Finding, in_most, passes, too_few
from orchestrator.evidence.run_evidence import CellEvidence, Samples, TrialEvidence
from orchestrator.findings.check_result import Overload

_FEWEST = 100
_MOST_RANKED = 5_000
_LEAST_BURST = 8


@dataclass(frozen=True, kw_only=True)
class Ramp:
    """Rank correlation of latency with place, and how many times longer the last tenth takes than the first."""

    correlation: float
    growth: float
    burst: int  # requests per burst; 0 for the whole trial


def observe(samples: Samples) -> tuple[Ramp, ...]:
    """The trial as a whole, and its bursts where it has any."""
    latency = samples.latency_ns
    if latency.size < _FEWEST:
        return ()
    ramps = [_ramp(np.arange(latency.size), latency, burst=0)]
    sent = samples.sent_ns[samples.ok]
    gaps = np.diff(sent)
    # A pause of more than half a median latency between two sends ends a burst.
    starts = np.flatnonzero(gaps > np.median(latency) / 2) + 1
    bursts = starts.size + 1
    if not samples.is_open_loop and latency.size / bursts >= _LEAST_BURST and bursts > 1:
        firsts = np.concatenate([[0], starts])
        place = np.arange(latency.size) - np.repeat(firsts, np.diff(np.concatenate([firsts, [latency.size]])))
        ramps.append(_ramp(place, latency, burst=latency.size // bursts))
    return tuple(ramps)


def _ramp(place: npt.NDArray[np.int64], latency: npt.NDArray[np.int64], *, burst: int) -> Ramp:
    step = max(1, place.size // _MOST_RANKED)
    if not burst:
        place, latency = place[::step], latency[::step]
    elif step > 1:
        place, latency = place[:_MOST_RANKED], latency[:_MOST_RANKED]
    order = np.argsort(place, kind="stable")
    tenth = max(1, place.size // 10)
    first, last = np.median(latency[order[:tenth]]), np.median(latency[order[-tenth:]])
    # Spearman's, ties ranked in order of appearance, which is enough to tell a ramp.
    ranks = [np.argsort(np.argsort(values, kind="stable"), kind="stable") for values in (place, latency)]
    correlation = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    return Ramp(correlation=correlation, growth=float(last / first) if first > 0 else 1.0, burst=burst)


def judge(cell: CellEvidence) -> list[Finding]:
    """The steepest ramp of the cell's trials."""
    ramps = [_finding(cell, trial, ramp) for trial, _, ramps in cell.parts(NAME) for ramp in ramps]
    return in_most(ramps, len(cell.trials))


def _finding(cell: CellEvidence, trial: TrialEvidence, ramp: Ramp) -> Finding:
    evidence = {
        "trial": trial.record.index,
        "rank_correlation": round(ramp.correlation, 3),
        "last_to_first_tenth": round(ramp.growth, 2),
        "burst": ramp.burst,
    }
    where = f"within bursts of about {ramp.burst}" if ramp.burst else "over the trial"
    if ramp.correlation <= 0.7 or ramp.growth <= 2:
        return passes(f"Latency does not grow {where}.", evidence)
    rate, is_certain = cell.cell.load.rate_per_s, ramp.correlation > 0.9 and ramp.growth > 3 and not ramp.burst
    return Finding(
        "fail" if is_certain else "warn",
        f"Latency grows {ramp.growth:.1f}-fold {where}: requests are queueing.",
        "Lower the offered rate below the responder's capacity."
        if cell.is_open_loop
        else "Send each request when the previous one is answered, or report throughput instead.",
        evidence,
        overload=Overload(planned_per_s=rate, delivered_per_s=None) if rate and is_certain else None,
    )


NAME = "queueing ramp"
CHECK = Check(
    name=NAME,
    severity="serious",
    kinds=CALLS | CODECS,
    observe=observe,
    judge=judge,
    otherwise=too_few(_FEWEST, "to see a ramp"),
)
