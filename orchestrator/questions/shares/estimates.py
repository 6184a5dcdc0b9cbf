"""How much of the spread between the cells of a complete matrix belongs to each of its factors. Pure.

Of N cells, one for each combination of the factors' levels, let y(c) be the mean over blocks of the log of a cell's
trials, as endlessly many blocks would give it, and V the variance of the y(c) over the cells (over N). A balanced
matrix has one decomposition of the y(c) into a mean, a main effect of each factor and an interaction of each set of
factors; each sums to zero along each of its factors (Scheffé 1959); the mean squares of the effects over the
cells add up to V. The *share* of an effect is its mean square over V: of these very levels, as no language is drawn at
random from others.

The mean square of a measured effect is too large by what blocks differ by chance. So it is taken from products of
different blocks: with p(b) the effect in block b, the mean over all pairs b ≠ b' of p(b)·p(b')/N. That has no bias as
long as blocks do not depend on each other (a U-statistic, Hoeffding 1948). What slows a whole block cancels.

Intervals come from blocks alone: each is left out in turn (the jackknife, Tukey 1958; of U-statistics Arvesen 1969), and
Student's t has one degree of freedom less than there are blocks. Of an effect that is none they are wider than need be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from math import sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from orchestrator.statistics.intervals import ALPHA, FEWEST_BLOCKS, t_quantile, two_sided_p

Floats: TypeAlias = npt.NDArray[np.float64]
Effect: TypeAlias = frozenset[int]
"""The places of its factors: one of a main effect, several of an interaction."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """An estimate from so many blocks, with its standard error."""

    value: float
    se: float
    blocks: int

    def interval(self, alpha: float = ALPHA) -> tuple[float, float]:
        """The t-interval at level 1 - alpha."""
        half = t_quantile(1 - alpha / 2, self.blocks - 1) * self.se
        return self.value - half, self.value + half

    @property
    def p_value(self) -> float:
        """Two-sided, of its being 0."""
        return two_sided_p(self.value / self.se, self.blocks - 1) if self.se > 0 else float(self.value == 0)


@dataclass(frozen=True, kw_only=True)
class _Jackknifed:
    """A statistic of all blocks, and of all but each."""

    value: float
    without: Floats

    def __add__(self, other: _Jackknifed) -> _Jackknifed:
        return _Jackknifed(value=self.value + other.value, without=self.without + other.without)

    def __sub__(self, other: _Jackknifed) -> _Jackknifed:
        return _Jackknifed(value=self.value - other.value, without=self.without - other.without)

    def __truediv__(self, other: _Jackknifed) -> _Jackknifed:
        return _Jackknifed(value=self.value / other.value, without=self.without / other.without)

    @property
    def estimate(self) -> Estimate:
        blocks = self.without.size
        return Estimate(
            value=self.value, se=(blocks - 1) * float(self.without.std(ddof=1)) / sqrt(blocks), blocks=blocks
        )


@dataclass(frozen=True, kw_only=True)
class Decomposition:
    """What the effects of a matrix make of its spread, `variance` (V); `effects` has main effects first."""

    effects: tuple[Effect, ...]
    variance: Estimate
    _squares: Mapping[Effect, _Jackknifed] = field(repr=False)
    _total: _Jackknifed = field(repr=False)
    _levels: tuple[int, ...] = field(repr=False)

    def share(self, effects: Sequence[Effect]) -> Estimate:
        """The share of V of several effects together. It may fall below 0 by chance."""
        part = _sum([self._squares[effect] for effect in effects], self.variance.blocks)
        return (part / self._total).estimate

    def change(self, factor: int) -> Estimate:
        """The mean square of the difference between two levels of a factor, whatever the others: how far a change goes.

        Over each two levels, so that it is no greater for a factor with more of them, as a share is.
        """
        return self._of_change(factor).estimate

    def change_beyond(self, factor: int, other: int) -> Estimate:
        """By how much more a change of one factor does than one of another, over 2 V; below 0 it does less."""
        return ((self._of_change(factor) - self._of_change(other)) / (self._total + self._total)).estimate

    def _of_change(self, factor: int) -> _Jackknifed:
        square, size = self._squares[frozenset({factor})], self._levels[factor]
        times = 2 * size / (size - 1)
        return _Jackknifed(value=times * square.value, without=times * square.without)


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
    flat = logs.reshape(blocks, -1)
    squares = {
        effect: _between_blocks(flat @ projection @ flat.T / flat.shape[1])
        for effect, projection in _projections(levels).items()
    }
    variance = _sum(list(squares.values()), blocks)
    return Decomposition(
        effects=tuple(squares), variance=variance.estimate, _squares=squares, _total=variance, _levels=levels
    )


def _sum(parts: Sequence[_Jackknifed], blocks: int) -> _Jackknifed:
    return sum(parts, _Jackknifed(value=0.0, without=np.zeros(blocks)))


@cache
def _projections(levels: tuple[int, ...]) -> Mapping[Effect, Floats]:
    """Of each effect the matrix that takes it alone from the cells' values; the last factor's levels run fastest.

    It is the product over factors of what leaves their mean, or takes it off (those of the effect).
    """
    means = [np.full((size, size), 1 / size) for size in levels]
    less = [np.eye(size) - mean for size, mean in zip(levels, means, strict=True)]
    projections: dict[Effect, Floats] = {}
    for count in range(1, len(levels) + 1):
        for places in combinations(range(len(levels)), count):
            parts = [less[place] if place in places else means[place] for place in range(len(levels))]
            projection = np.ones((1, 1))
            for part in parts:
                projection = np.kron(projection, part)
            projections[frozenset(places)] = projection
    return projections


def _between_blocks(products: Floats) -> _Jackknifed:
    """Of an effect's products, by two blocks, the mean over pairs of different ones, and that without each block."""
    blocks = len(products)
    own = products.diagonal()
    of_pairs = float(products.sum() - own.sum())
    without = (of_pairs - 2 * (products.sum(axis=1) - own)) / ((blocks - 1) * (blocks - 2))
    return _Jackknifed(value=of_pairs / (blocks * (blocks - 1)), without=without)
