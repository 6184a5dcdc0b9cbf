"""Uncertainty from the spread between trials: pure functions over small arrays of trial quantiles.

A trial is the replicate: thousands of requests inside one say nothing about the next process or machine. Each trial
yields one number (its median, p99 or throughput); logs of them are compared within blocks, so that what slows a whole
block cancels, and a t-interval (Student 1908) on the mean log ratio is exponentiated. For a handful of blocks this
covers what it promises, where resampling few trials does not.

**Few blocks.** The comparisons of one placement share their blocks, so that their spreads show together how much trials
differ. The variance of each is moderated by the others' (Smyth 2004, "Linear models and empirical Bayes methods",
Statistical Applications in Genetics 3(1), with the median for the typical variance), to no less than four fifths of its own;
its t has the degrees of freedom of both (`moderated`). `benchmarks/coverage.py` simulates what it promises.

**Several comparisons.** p values of all comparisons of a run by one statistic, in all of its settings, are adjusted by Holm
(1979), which holds the chance of calling any equal pair different at 5 % whatever the others do and however they depend on
one another. The intervals match those tests: the stack of the i-th smallest of m
p values gets level 1 - a/(m - i + 1), and from the first one that is not rejected on all share its level, so an
interval excludes 1 exactly when the adjusted p value is below a. What this does and does not promise: single
intervals cover their true ratio in 95 % on average (less, 86 to 93 %, where one stack spreads several times as much as the
others and the F test misses it); no equal stack's interval excludes 1 in at least 95 % of runs
(family-wise); *joint* coverage of m truly different ratios is not promised (two-sided intervals that match a step-down
test and are jointly exact do not exist with a finite width); its lower bound is 1 - a (1 + 1/2 + ... + 1/m).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp, sqrt

import numpy as np
import numpy.typing as npt

from orchestrator.statistics.terms import Interval

ALPHA = 0.05
FEWEST_BLOCKS = 3
LEAST_SHARE = 0.8  # of a comparison's own variance, below which others never bring it
_UNUSUAL = 0.01
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
    lent: float = 0.0  # degrees of freedom that other comparisons of the same blocks add to its own

    @property
    def freedom(self) -> float:
        """The degrees of freedom of its t."""
        return self.n - 1 + self.lent

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
        half = t_quantile(1 - alpha / 2, self.freedom) * self.se
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


def moderated(results: Sequence[LogMean | None]) -> list[LogMean | None]:
    """Return the means of comparisons that share their blocks, each with what the others show of how much trials differ.

    Where the variances differ no more than chance makes them, each gains the freedom of all; where they differ widely, none
    gains any. One that is far above the typical variance (F test, 1 %) keeps its own and lends none. Comparisons with one
    reference are correlated by a half: k of them, with d degrees of freedom each, together have at most
    d k / (1 + (k - 1) / 4) (docs/decisions.md: 0068).
    """
    known = [result for result in results if result is not None and result.sd]
    if len(known) < 2:
        return list(results)
    from scipy import special

    own = np.array([result.n - 1 for result in known], dtype=np.float64)
    variances = np.array([result.sd or 0.0 for result in known]) ** 2
    typical = float(np.median(variances * own / special.chdtri(own, 0.5)))
    together = float(own.mean()) + most_lent(float(own.mean()), len(known))
    usual = variances / typical <= special.fdtri(own, together, 1 - _UNUSUAL)
    if usual.sum() < 2:
        return list(results)
    own, variances = own[usual], variances[usual]
    logs = np.log(variances) - special.digamma(own / 2) + np.log(own / 2)
    excess = float(logs.var(ddof=1) - special.polygamma(1, own / 2).mean())
    most = most_lent(float(own.mean()), own.size)
    lent = min(2 * _inverse_trigamma(excess), most) if excess > 0 else most
    largest = float(variances.max())
    return [
        _moderated(result, lent, typical) if result is not None and (result.sd or 0.0) ** 2 <= largest else result
        for result in results
    ]


def most_lent(freedom: float, comparisons: int) -> float:
    """Return the degrees of freedom that so many comparisons lend each of them where their variances are alike."""
    return freedom * (comparisons / (1 + (comparisons - 1) / 4) - 1)


def _moderated(result: LogMean, lent: float, typical: float) -> LogMean:
    """Return a mean whose variance is shrunk towards the typical one."""
    if result.sd is None or result.se is None:
        return result
    own = result.n - 1
    variance = max(LEAST_SHARE * result.sd**2, (lent * typical + own * result.sd**2) / (lent + own))
    se = sqrt(variance / result.n)
    p_value = two_sided_p(result.mean / se, own + lent) if se > 0 else float(result.mean == 0)
    return replace(result, se=se, lent=lent, p_value=p_value)


def _inverse_trigamma(value: float) -> float:
    """The number whose trigamma is a value above zero, by Newton's method on its reciprocal (Smyth 2004, appendix)."""
    from scipy import special

    x = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(special.polygamma(2, x))
        x += step
        if -step / x < 1e-8:
            break
    return x


def moderated_by_place(places: Sequence[str], results: Sequence[LogMean | None]) -> list[LogMean | None]:
    """Return the results, in their order, each moderated by those of its place."""
    shared: dict[int, LogMean | None] = {}
    for place in set(places):
        here = [number for number, other in enumerate(places) if other == place]
        shared |= dict(zip(here, moderated([results[number] for number in here]), strict=True))
    return [shared[number] for number in range(len(places))]


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
