"""Uncertainty from the spread between trials: pure functions over small arrays of trial quantiles.

A trial is the replicate: thousands of requests inside one say nothing about the next process or machine. Each trial
yields one number (its median, p99 or throughput); logs of them are compared within blocks, so that what slows a whole
block cancels, and a t-interval (Student 1908) on the mean log ratio is exponentiated. For a handful of blocks this
covers what it promises, where resampling few trials does not.

**Several comparisons.** p values of all comparisons of a run by one statistic, in all of its settings, are adjusted by Holm
(1979), which holds the chance of calling any equal pair different at 5 % whatever the others do and however they depend on
one another. The intervals match those tests: the stack of the i-th smallest of m
p values gets level 1 - a/(m - i + 1), and from the first one that is not rejected on all share its level, so an
interval excludes 1 exactly when the adjusted p value is below a. What this does and does not promise: every single
interval covers its true ratio with at least 95 %; no equal stack's interval excludes 1 in at least 95 % of runs
(family-wise); *joint* coverage of m truly different ratios is not promised (two-sided intervals that match a step-down
test and are jointly exact do not exist with a finite width); its lower bound is 1 - a (1 + 1/2 + ... + 1/m).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp, sqrt
from statistics import median

import numpy as np
import numpy.typing as npt

from orchestrator.statistics.terms import Interval

ALPHA = 0.05
FEWEST_BLOCKS = 3
_LARGEST = 700.0  # of a logarithm whose number is one


@dataclass(frozen=True, kw_only=True)
class Mean:
    """A geometric mean with its 95 % interval; None with fewer than three values."""

    value: float
    interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class LogMean:
    """A mean of logs with what an interval needs; `se` and `p_value` are None with fewer than three values."""

    n: int
    mean: float
    sd: float | None
    se: float | None
    p_value: float | None  # two-sided, of the mean log being 0, unadjusted

    @property
    def ratio(self) -> float:
        """The geometric mean."""
        return from_log(self.mean)

    @property
    def as_mean(self) -> Mean:
        """The geometric mean with its 95 % interval."""
        return Mean(value=self.ratio, interval=self.interval())

    def interval(self, alpha: float = ALPHA) -> Interval | None:
        """The t-interval at level 1 - alpha, exponentiated; None with fewer than three values."""
        if self.se is None:
            return None
        half = t_quantile(1 - alpha / 2, self.n - 1) * self.se
        return from_log(self.mean - half), from_log(self.mean + half)


def from_log(logarithm: float) -> float:
    """What it is the logarithm of, or the nearest number that has room: values from elsewhere may lie at either end."""
    return exp(max(-_LARGEST, min(_LARGEST, logarithm)))


@cache
def t_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's t."""
    from scipy import special  # a tenth of a second that `orch --help` must not pay

    return float(special.stdtrit(freedom, probability))


def two_sided_p(t: float, freedom: float) -> float:
    """The chance of a |t| at least this large."""
    from scipy import special

    return float(2 * special.stdtr(freedom, -abs(t)))


def mean_interval(values: npt.ArrayLike, alpha: float = ALPHA) -> Interval | None:
    """Return the t-interval of the mean of values that are no ratios; None with fewer than three."""
    every = np.asarray(values, dtype=np.float64)
    if every.size < FEWEST_BLOCKS:
        return None
    half = t_quantile(1 - alpha / 2, every.size - 1) * float(every.std(ddof=1)) / sqrt(every.size)
    mean = float(every.mean())
    return mean - half, mean + half


def log_mean(logs: npt.ArrayLike) -> LogMean:
    """Summarise logs (of values, or of ratios within blocks); ValueError without any.

    Identical values give a standard error of 0: their interval is a point, and p is 1 at a mean of 0, else 0.
    """
    values = np.asarray(logs, dtype=np.float64)
    if values.size == 0:
        raise ValueError("no trial, no interval")
    mean = float(values.mean())
    if values.size < FEWEST_BLOCKS:
        return LogMean(n=values.size, mean=mean, sd=None, se=None, p_value=None)
    sd = float(values.std(ddof=1))
    se = sd / sqrt(values.size)
    p_value = two_sided_p(mean / se, values.size - 1) if se > 0 else float(mean == 0)
    return LogMean(n=values.size, mean=mean, sd=sd, se=se, p_value=p_value)


def with_shared_error(results: Sequence[LogMean | None]) -> list[LogMean | None]:
    """The same means, none with a standard error below half the median of theirs: its p value follows.

    Where trials come in two groups of speed, three blocks may by chance hold one group of a stack and the other group of
    its reference throughout; they then agree with each other, and are wrong. The other comparisons of the same blocks and
    placement, in whatever setting, show how much trials differ (docs/decisions.md: 0010 and 0015).
    """
    errors = [result.se for result in results if result is not None and result.se is not None]
    least = median(errors) / 2 if errors else 0.0
    return [_at_least(result, least) for result in results]


def with_error_of_places(places: Sequence[str], results: Sequence[LogMean | None]) -> list[LogMean | None]:
    """Return the results, in their order, with the error that those of one place share (`with_shared_error`)."""
    shared: dict[int, LogMean | None] = {}
    for place in set(places):
        here = [number for number, other in enumerate(places) if other == place]
        shared |= dict(zip(here, with_shared_error([results[number] for number in here]), strict=True))
    return [shared[number] for number in range(len(places))]


def _at_least(result: LogMean | None, se: float) -> LogMean | None:
    if result is None or result.se is None or result.se >= se:
        return result
    return replace(result, se=se, p_value=two_sided_p(result.mean / se, result.n - 1))


def of_trials(values: Sequence[float]) -> LogMean:
    """One cell: the logs of its trials' quantiles (all above zero)."""
    return log_mean(np.log(np.asarray(values, dtype=np.float64)))


def paired(values: Sequence[float], reference: Sequence[float]) -> LogMean:
    """Two cells measured in the same blocks, block by block: the log of value over reference."""
    return log_mean(np.log(np.asarray(values, dtype=np.float64)) - np.log(np.asarray(reference, dtype=np.float64)))


def unpaired(values: Sequence[float], reference: Sequence[float]) -> tuple[float, float, float] | None:
    """Two runs: difference of mean logs, its standard error, and degrees of freedom (Welch 1947).

    None when either side has fewer than three trials.
    """
    a, b = np.log(np.asarray(values, dtype=np.float64)), np.log(np.asarray(reference, dtype=np.float64))
    if min(a.size, b.size) < FEWEST_BLOCKS:
        return None
    va, vb = float(a.var(ddof=1)) / a.size, float(b.var(ddof=1)) / b.size
    total = va + vb
    freedom = total**2 / (va**2 / (a.size - 1) + vb**2 / (b.size - 1)) if total > 0 else float(a.size + b.size - 2)
    return float(a.mean() - b.mean()), sqrt(total), freedom


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, in the order given."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    factors = np.arange(p.size, 0, -1)
    adjusted = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    result = np.empty_like(adjusted)
    result[order] = adjusted
    return [float(value) for value in result]


def holm_levels(p_values: Sequence[float], alpha: float = ALPHA) -> list[float]:
    """The alpha of each interval, in the order given, so that intervals and Holm's tests say the same (see above)."""
    m = len(p_values)
    levels = [0.0] * m
    stopped: float | None = None
    for rank, index in enumerate(sorted(range(m), key=lambda i: p_values[i])):
        level = alpha / (m - rank) if stopped is None else stopped
        levels[index] = level
        if stopped is None and p_values[index] > level:
            stopped = level
    return levels
