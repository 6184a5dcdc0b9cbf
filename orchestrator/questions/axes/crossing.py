"""Where a difference changes its sign along an axis, with an interval. Pure.

Between two measured places each block's difference is interpolated in a straight line; so at every place there is one
difference for each block, and their mean has a t-interval. The estimate is where the mean is zero. The interval is every
place around it at which the t-interval holds zero, the set that Fieller (1954) took for a ratio of means: at the true
crossing of the interpolated means that is so in 95 % of runs, whatever the slopes are, and no block has to cross by
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

from orchestrator.statistics.intervals import ALPHA, FEWEST_BLOCKS, t_quantile

Scale = Literal["linear", "log"]


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """Where a difference changes its sign, with the 95 % interval of that place (docs/explanation/statistics.md)."""

    at: float
    low: float
    high: float


_ROUNDING = 1e-9

Differences = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class _Segment:
    """Between two neighbouring places: u runs from 0 to 1; the mean is `a + b u`, its squared standard error a parabola."""

    a: float
    b: float
    s0: float  # squared standard error at u: s0 (1 - u)^2 + 2 s01 u (1 - u) + s1 u^2
    s01: float
    s1: float

    def bounds(self, t: float) -> list[float]:
        """Where, within the segment, the interval begins or ceases to hold zero, ascending."""
        square = self.b**2 - t**2 * (self.s0 - 2 * self.s01 + self.s1)
        linear = 2 * self.a * self.b - t**2 * (2 * self.s01 - 2 * self.s0)
        constant = self.a**2 - t**2 * self.s0
        if square == 0:
            roots = [-constant / linear] if linear else []
        else:
            inner = linear**2 - 4 * square * constant
            if -_ROUNDING * linear**2 < inner < 0:  # equal blocks: both roots are the crossing itself
                inner = 0.0
            roots = [] if inner < 0 else [(-linear + sign * sqrt(inner)) / (2 * square) for sign in (-1, 1)]
        return sorted(u for u in roots if 0 <= u <= 1)


def crossing(places: Sequence[float], by_block: Differences, scale: Scale = "linear") -> Crossing | None:
    """Where the mean difference changes its sign, once; None where it does not, or more than once, or in few blocks.

    `places`: k ascending places of the axis, above zero for the scale `log`, along which is then interpolated. `by_block`:
    differences, one row for each of n blocks and one column for each place. Along `log` a difference that grows with the
    place itself, as time does with bytes, crosses later than the line has it: there the interval reaches from where the
    one begins to where the other ends. Also None where on one side no place has a
    significant difference: a sign that is nowhere known does not change.
    """
    blocks, count = by_block.shape
    if blocks < FEWEST_BLOCKS or count < 2:
        return None
    means = by_block.mean(axis=0)
    if np.any(means == 0) or int(np.count_nonzero(np.diff(np.sign(means)))) != 1:
        return None
    covariance = np.cov(by_block, rowvar=False) / blocks
    segments = [
        _Segment(
            a=float(means[i]),
            b=float(means[i + 1] - means[i]),
            s0=float(covariance[i, i]),
            s01=float(covariance[i, i + 1]),
            s1=float(covariance[i + 1, i + 1]),
        )
        for i in range(count - 1)
    ]
    t = t_quantile(1 - ALPHA / 2, blocks - 1)
    where = int(np.flatnonzero(np.diff(np.sign(means)))[0])
    known = np.abs(means) > t * np.sqrt(np.diag(covariance))
    if not known[: where + 1].any() or not known[where + 1 :].any():
        return None
    u = -segments[where].a / segments[where].b
    low, high = (_end(segments, where, u, t, is_below=is_below) for is_below in (True, False))
    if scale == "log":
        logs = [log(place) for place in places]
        return Crossing(at=exp(_along(logs, where, u)), low=exp(_along(logs, *low)), high=_along(places, *high))
    return Crossing(at=_along(places, where, u), low=_along(places, *low), high=_along(places, *high))


def _along(places: Sequence[float], segment: int, u: float) -> float:
    return places[segment] + u * (places[segment + 1] - places[segment])


def _end(segments: Sequence[_Segment], where: int, u: float, t: float, *, is_below: bool) -> tuple[int, float]:
    """The nearest place below, or above, up to which the interval holds zero, as segment and u."""
    for number in range(where, -1, -1) if is_below else range(where, len(segments)):
        roots = segments[number].bounds(t)
        if number == where:
            roots = [root for root in roots if (root <= u + _ROUNDING if is_below else root >= u - _ROUNDING)]
        if roots:
            return number, roots[-1 if is_below else 0]
    return (0, 0.0) if is_below else (len(segments) - 1, 1.0)
