"""steady state: after warm-up, latency does not drift.

Each trial is cut into twenty segments of equal count; the logs of their medians are looked at. A drift that all trials
share, beyond what is typical of the block's other stacks, means that warm-up was too short, and so does one of more than
25 %: the machine's moods move all stacks. Steady is what was shown to be: the whole 95 % interval of the shared drift, or
of that beyond the other stacks, lies within 5 %. Where both reach farther, the trials cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log
from statistics import fmean, median
from typing import TypeGuard

import numpy as np

from orchestrator.checks.base import CALLS, CODECS, Check, Finding, cannot_tell, passes, warns
from orchestrator.evidence.run_evidence import CellEvidence, RunEvidence, Samples
from orchestrator.statistics import intervals
from orchestrator.statistics.intervals import LogMean
from orchestrator.statistics.terms import Interval

_SEGMENTS = 20
_FEWEST = 10 * _SEGMENTS
_DRIFT = log(1.05)
_MOST_OF_ALL = log(1.25)  # of all stacks of a block alike, what a mood of the machine may be


def observe(samples: Samples) -> float | None:
    """Log ratio of latency, the rest against the first fifth; None with too few requests to tell."""
    latency = samples.latency_ns
    if latency.size < _FEWEST:
        return None
    usable = latency[: latency.size // _SEGMENTS * _SEGMENTS].reshape(_SEGMENTS, -1)
    levels = np.log(np.maximum(np.median(usable, axis=1), 1.0))
    return float(levels[_SEGMENTS // 5 :].mean() - levels[: _SEGMENTS // 5].mean())


def judge(cell: CellEvidence, run: RunEvidence) -> Iterator[Finding]:
    """The drift that trials share."""
    if any(cell.parts(NAME)):
        yield _drift(_drifts(cell), [_drifts(other) for other in run.in_blocks_of(cell)])


def _drifts(cell: CellEvidence) -> dict[int, float]:
    """By block the drift of a trial, whoever asked in it."""
    drifts: dict[int, list[float]] = {}
    for trial, _, seen in cell.parts(NAME):
        drifts.setdefault(trial.record.block, []).append(seen)
    return {block: fmean(of_trial) for block, of_trial in drifts.items()}


def _drift(drifts: Mapping[int, float], beside: Sequence[Mapping[int, float]]) -> Finding:
    shared = intervals.log_mean([*drifts.values()])
    interval = shared.interval()
    evidence = {"drift": exp(shared.mean) - 1, "interval": interval, "trials": shared.n}
    if interval is None:
        return cannot_tell("few", evidence, fewest=intervals.FEWEST_BLOCKS)
    beyond = _beyond_others(drifts, beside)
    is_own = beyond is None or (_is_drift(beyond) and beyond.mean * shared.mean > 0)
    if _is_drift(shared) and (is_own or abs(shared.mean) > _MOST_OF_ALL):
        return warns("slower" if shared.mean > 0 else "faster", evidence)
    if _is_steady(interval):
        return passes("steady", evidence)
    if beyond is not None and _is_steady(own := beyond.interval()):
        return passes("as-others", {**evidence, "beyond_others": own})
    return cannot_tell("wide", evidence, weight=log(interval[1] / interval[0]))


def _is_drift(logs: LogMean) -> bool:
    interval = logs.interval()
    return interval is not None and not interval[0] <= 1 <= interval[1] and abs(logs.mean) > _DRIFT


def _is_steady(interval: Interval | None) -> TypeGuard[Interval]:
    return interval is not None and exp(-_DRIFT) <= interval[0] <= interval[1] <= exp(_DRIFT)


def _beyond_others(drifts: Mapping[int, float], beside: Sequence[Mapping[int, float]]) -> LogMean | None:
    """The drift beyond what is typical of each block's other cells; None with too few of them."""
    own = [
        drift - median(others)
        for block, drift in drifts.items()
        if (others := [other[block] for other in beside if block in other])
    ]
    return intervals.log_mean(own) if len(own) >= intervals.FEWEST_BLOCKS else None


NAME = "steady state"
CHECK = Check(
    name=NAME,
    severity="serious",
    kinds=CALLS | CODECS,
    observe=observe,
    judge_beside=judge,
    otherwise=cannot_tell("too-few", fewest=_FEWEST),
)
