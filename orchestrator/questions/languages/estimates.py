"""How far a change of one factor goes in a complete matrix of several. Pure.

Of N cells, one for each combination of the factors' levels, let y(c) be the mean over blocks of the log of a cell's
trials, as endlessly many blocks would give it. The main effect of a factor is the mean of the y(c) at each of its levels,
less the mean of all (Scheffé 1959); of these very levels, as no language is drawn at random from others. The mean square
of the log ratio of two of its levels is 2 s / (s - 1) times the mean square of its main effect, s being their number.

The mean square of a measured effect is too large by what blocks differ by chance. So it is taken from products of
different blocks: with p(b) the effect in block b, the mean over all pairs b ≠ b' of p(b)·p(b'). That has no bias as
long as blocks do not depend on each other (a U-statistic, Hoeffding 1948). What slows a whole block cancels.

Intervals come from blocks alone: each is left out in turn (the jackknife, Tukey 1958; of U-statistics Arvesen 1969), and
Student's t has one degree of freedom less than there are blocks. Of an effect that is none they are wider than need be.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from orchestrator.statistics.intervals import ALPHA, FEWEST_BLOCKS, t_quantile, two_sided_p
from orchestrator.statistics.terms import Interval

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """An estimate from all blocks (`value`), and from all but each (`without`)."""

    value: float
    without: Floats

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the standard error."""
        return self.without.size - 1

    @property
    def se(self) -> float:
        """The standard error."""
        return self.freedom * float(self.without.std(ddof=1)) / sqrt(self.without.size)

    def interval(self, alpha: float = ALPHA) -> Interval:
        """The t-interval at level 1 - alpha."""
        half = t_quantile(1 - alpha / 2, self.freedom) * self.se
        return self.value - half, self.value + half

    @property
    def p_value(self) -> float:
        """Two-sided, of its being 0."""
        return two_sided_p(self.value / self.se, self.freedom) if self.se > 0 else float(self.value == 0)


@dataclass(frozen=True, kw_only=True)
class Decomposition:
    """The variance of the cells' logs, and of each factor the mean square of the log ratio of two of its levels."""

    variance: Estimate
    changes: tuple[Estimate, ...]

    def beyond(self, factor: int, other: int) -> Estimate:
        """By how much more a change of one factor does than one of another, over 2 V; below 0 it does less."""
        mine, theirs, whole = self.changes[factor], self.changes[other], self.variance
        value = (mine.value - theirs.value) / (2 * whole.value)
        return Estimate(value=value, without=(mine.without - theirs.without) / (2 * whole.without))


def decompose(logs: Floats) -> Decomposition | None:
    """The decomposition of logs by block (first axis) and by the level of each factor (the others).

    None with fewer than three blocks, or where some factor has one level.
    ValueError where a value is missing.
    """
    if not np.isfinite(logs).all():
        raise ValueError("a matrix with gaps has no such decomposition")
    blocks, levels = logs.shape[0], logs.shape[1:]
    if blocks < FEWEST_BLOCKS or not levels or min(levels) < 2:
        return None
    axes = range(1, logs.ndim)
    means = [logs.mean(axis=tuple(axis for axis in axes if axis != place)) for place in axes]
    return Decomposition(
        variance=_mean_square(logs.reshape(blocks, -1)),
        changes=tuple(_mean_square(mean, 2 * mean.shape[1] / (mean.shape[1] - 1)) for mean in means),
    )


def _mean_square(values: Floats, times: float = 1.0) -> Estimate:
    """The mean square of values (block x level) around each block's mean, from products of different blocks."""
    blocks, size = values.shape
    centred = values - values.mean(axis=1, keepdims=True)
    products = times * centred @ centred.T / size
    own = products.diagonal()
    of_pairs = float(products.sum() - own.sum())
    without = (of_pairs - 2 * (products.sum(axis=1) - own)) / ((blocks - 1) * (blocks - 2))
    return Estimate(value=of_pairs / (blocks * (blocks - 1)), without=without)
