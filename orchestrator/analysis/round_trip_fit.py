"""How many round trips a request takes: the slope of its latency over the round trip that was measured. Pure.

In each block a straight line is fitted (least squares) to the medians of its trials over the round trips that ping
measured beside them; the slopes of the blocks are the replicates, as trials are everywhere else. Their mean has a
t-interval. What a ping is off by makes a slope a little too small, by the share of its variance in that of the distances:
with distances tens of milliseconds apart, and pings off by tenths, by less than a thousandth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from orchestrator.analysis.intervals import ALPHA, FEWEST_BLOCKS, t_quantile
from orchestrator.analysis.terms import Interval

FEWEST_DISTANCES = 3
_LEAST_RANGE_MS = 1.0  # between the nearest and the farthest: below it the hosts' own work outweighs the distance


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Round trips with their interval, the latency at 0 ms, and the largest distance of a mean from the line; ms."""

    slope: float
    interval: Interval | None
    at_zero: float
    off_line: float
    distances: int
    blocks: int


def fit(medians: Mapping[str, Mapping[int, float]], floors: Mapping[str, Mapping[int, float]]) -> Fit | None:
    """The fit over all blocks that hold every distance; None with fewer than three distances, or none 1 ms apart.

    `medians` and `floors`: by placement and block, ms.
    """
    names = [name for name in medians if medians[name] and floors.get(name)]
    if len(names) < FEWEST_DISTANCES:
        return None
    shared = set.intersection(*(set(medians[name]) & set(floors[name]) for name in names))
    if not shared:
        return None
    slopes, at_zero, all_x, all_y = [], [], [], []
    for block in sorted(shared):
        x = np.array([floors[name][block] for name in names])
        y = np.array([medians[name][block] for name in names])
        if float(np.ptp(x)) < _LEAST_RANGE_MS:
            return None
        slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
        slopes.append(slope)
        at_zero.append(float(y.mean() - slope * x.mean()))
        all_x.append(x)
        all_y.append(y)
    mean, base, n = float(np.mean(slopes)), float(np.mean(at_zero)), len(slopes)
    residuals = np.mean(all_y, axis=0) - (base + mean * np.mean(all_x, axis=0))
    interval = None
    if n >= FEWEST_BLOCKS:
        half = t_quantile(1 - ALPHA / 2, n - 1) * float(np.std(slopes, ddof=1)) / sqrt(n)
        interval = (mean - half, mean + half)
    return Fit(
        slope=mean,
        interval=interval,
        at_zero=base,
        off_line=float(np.abs(residuals).max()),
        distances=len(names),
        blocks=n,
    )
