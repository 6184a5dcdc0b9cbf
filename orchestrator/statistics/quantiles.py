"""Descriptive statistics of latencies: pure functions over int64 nanoseconds, results in float milliseconds.

Quantiles are type 7 of Hyndman & Fan (1996), "Sample Quantiles in Statistical Packages", The American Statistician
50(4): linear interpolation between the order statistics around rank (n - 1) p. It is what numpy, R and Excel use by
default. A percentile is only given where at least `SUPPORT` samples lie beyond it: the estimate of p99 from 200 samples
is the second largest of them, which says nothing about the hundredth.

Requests without a right reply are right-censored: they count as slower than every reply. A quantile that falls among
them is infinite here, and never becomes a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Nanoseconds: TypeAlias = npt.NDArray[np.int64]

SUPPORT = 10
SLOWEST = 200
_BODY, _TAIL = 200, 100  # ranks of a curve
NS_PER_MS = 1e6


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Of the measured requests of a cell or baseline.

    A cell's percentiles are the geometric means of its trials', as comparisons are; where some trial has none, that of all
    requests pooled (`pooled` names these). All else, and a baseline's percentiles, pool all trials: they describe.

    A request without a right reply (`failed` of them) counts as slower than every reply: it is right-censored. What
    falls among those is no number: it is None, and `censored` names it (`p99`, `maximum`, ...); all that is known is
    that it lies beyond `limit`, the time-out, or where no request waited for that, after which time they `ended`. Mean and
    SD of censored values are not defined, and None.

    `curve` is the ECDF by rank: (share of requests at or below, latency), even ranks, more in the tail, and each of the
    slowest 200; with failures it ends below 1. Percentiles are None with fewer than ten requests beyond them, too.
    """

    n: int  # right replies
    minimum: float
    mean: float | None
    median: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    p999: float | None
    maximum: float | None
    sd: float | None
    cv: float | None
    iqr: float | None
    p99_to_p50: float | None = None
    curve: tuple[tuple[float, float], ...] = ()
    failed: int = 0
    limit: float | None = None  # ms; None without failures, and where none of them waited that long
    ended: float | None = None  # ms, the median time after which they ended, where none waited for the limit
    censored: tuple[str, ...] = ()
    pooled: tuple[str, ...] = ()  # percentiles of a cell that are those of all its requests, as some trial has none


def quantile(ordered: Nanoseconds, share: float, failed: int = 0) -> float:
    """The type 7 quantile of values that are already sorted, in their own unit; ValueError without values.

    `failed` more values are only known to be larger than all of these: infinity where the quantile falls among them.
    """
    n = ordered.size + failed
    if n == 0:
        raise ValueError("no values, no quantile")
    rank = (n - 1) * share
    below = math.floor(rank)
    if below >= ordered.size:
        return math.inf
    low = float(ordered[below])
    if below + 1 == n or rank == below:
        return low
    if below + 1 >= ordered.size:
        return math.inf
    return low + (rank - below) * (float(ordered[below + 1]) - low)


def is_supported(n: int, share: float) -> bool:
    """Whether at least `SUPPORT` of n samples lie beyond the quantile. Rounded, so that 1,000 samples support p99."""
    return round(n * (1 - share), 9) >= SUPPORT


def supported_quantile(ordered: Nanoseconds, share: float, failed: int = 0) -> float | None:
    """The quantile in milliseconds (infinite among the failed), None with too few requests beyond it."""
    if not is_supported(ordered.size + failed, share):
        return None
    return quantile(ordered, share, failed) / NS_PER_MS


def finite(value: float | None) -> float | None:
    """The value; None for one that falls among requests without a right reply."""
    return value if value is not None and math.isfinite(value) else None


def fails_that_move(share: float, n: int) -> float:
    """How many failures of n requests move a percentile further than chance does.

    Left out, k of the slowest shift the percentile by k share ranks; n draws scatter it by 1.96 sqrt(n share (1 - share))
    ranks in 19 of 20 cases (the binomial interval of a quantile: Conover 1999, "Practical Nonparametric Statistics",
    section 3.2).
    """
    return 1.96 * math.sqrt(n * (1 - share) / share)


def distribution(ordered: Nanoseconds, failed: int = 0, limit_ns: float | None = None) -> Distribution:
    """Describe sorted latencies, and `failed` more requests that got no right reply; ValueError without a reply.

    `limit_ns` is the time-out of those; the slowest reply, where that took longer. SD is the sample's (n - 1 in the
    denominator), 0 for a single value. Sums are taken about the minimum, so that the variance of small spreads around
    large values does not drown in rounding.
    """
    known = percentiles(ordered, failed)
    offsets = (ordered - ordered[0]).astype(np.float64)
    mean = (float(ordered[0]) + float(offsets.mean())) / NS_PER_MS
    sd = float(offsets.std(ddof=1)) / NS_PER_MS if ordered.size > 1 else 0.0
    slowest = float(ordered[-1])
    median, p99 = finite(known["median"]), finite(known["p99"])
    iqr = finite(quantile(ordered, 0.75, failed) - quantile(ordered, 0.25, failed)) if median is not None else None
    described = Distribution(
        n=int(ordered.size),
        minimum=float(ordered[0]) / NS_PER_MS,
        mean=mean,
        median=median,
        p90=finite(known["p90"]),
        p95=finite(known["p95"]),
        p99=p99,
        p999=finite(known["p999"]),
        maximum=slowest / NS_PER_MS,
        sd=sd,
        cv=sd / mean if mean > 0 else 0.0,
        iqr=None if iqr is None else iqr / NS_PER_MS,
        p99_to_p50=p99 / median if p99 is not None and median else None,
        curve=curve(ordered, failed=failed),
    )
    if not failed:
        return described
    censored = (*(name for name, value in known.items() if value == math.inf), "maximum")
    limit = max(slowest, limit_ns or 0.0) / NS_PER_MS
    described = replace(described, mean=None, maximum=None, sd=None, cv=None)
    return replace(described, failed=failed, limit=limit, censored=censored)


PERCENTILES = {"median": 0.5, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def percentiles(ordered: Nanoseconds, failed: int = 0) -> dict[str, float | None]:
    """A trial's percentiles in ms, the median always; None with too few requests beyond, infinite among `failed`."""
    values = {name: supported_quantile(ordered, share, failed) for name, share in PERCENTILES.items() if share > 0.5}
    return {"median": quantile(ordered, 0.5, failed) / NS_PER_MS, **values}


def over_trials(pooled: Distribution, trials: Sequence[Mapping[str, float | None]]) -> Distribution:
    """The distribution with each percentile the geometric mean of the trials', which is what comparisons rest on.

    All requests pooled weigh a trial by how many it made, and one quick trial may put a stack first that is slower in every
    other (docs/decisions.md: 0016). Where a trial has no such percentile, or it falls among requests without a right reply,
    the pooled one stays, and is named in `pooled`.
    """
    means: dict[str, float] = {}
    for name in PERCENTILES:
        values = [value for trial in trials if (value := finite(trial[name])) is not None and value > 0]
        if values and len(values) == len(trials):
            means[name] = values[0] if len(values) == 1 else geometric_mean(values)
    of_all = [n for n in PERCENTILES if n not in means and getattr(pooled, n) is not None and len(trials) > 1]
    median, p99 = means.get("median", pooled.median), means.get("p99", pooled.p99)
    return replace(
        pooled,
        **{name: means.get(name, getattr(pooled, name)) for name in PERCENTILES},
        p99_to_p50=p99 / median if p99 is not None and median else None,
        censored=tuple(name for name in pooled.censored if name not in means),
        pooled=tuple(of_all),
    )


def merged(trials: Sequence[Nanoseconds]) -> Nanoseconds:
    """The sorted values of several trials as one."""
    if len(trials) == 1:
        return trials[0]
    values = np.concatenate(trials) if trials else np.empty(0, dtype=np.int64)
    values.sort(kind="stable")
    return values


def of_trials(
    trials: Sequence[Nanoseconds], failed: Sequence[int] = (), limit_ns: float | None = None
) -> Distribution | None:
    """The distribution of sorted latencies by trial and `failed` more requests of each; None without a single reply.

    A trial without a request counts for nothing. `limit_ns` as in `distribution`.
    """
    pooled, failures = merged(trials), failed or [0] * len(trials)
    if not pooled.size:
        return None
    each = [percentiles(ordered, lost) for ordered, lost in zip(trials, failures, strict=True) if ordered.size + lost]
    return over_trials(distribution(pooled, sum(failures), limit_ns), each)


def curve(ordered: Nanoseconds, *, failed: int = 0) -> tuple[tuple[float, float], ...]:
    """The empirical distribution by rank: (share of requests at or below, latency in ms), ascending.

    `failed` more requests, slower than all of these, leave it to end below 1.

    200 even ranks, 100 ranks that come closer together towards the maximum (evenly spaced in log(1 - share)), and
    every one of the slowest 200: downsampling by shape (LTTB, min-max, M4) loses some of exactly those.
    """
    n = ordered.size
    even = np.linspace(0, n - 1, min(_BODY, n))
    beyond = np.geomspace(max(n * 0.1, 1), min(SLOWEST, n), _TAIL)
    ranks = np.concatenate([even, n - beyond, np.arange(max(0, n - SLOWEST), n)])
    chosen = np.unique(np.clip(np.rint(ranks).astype(np.int64), 0, n - 1))
    shares = (chosen + 1) / (n + failed)
    return tuple(zip(shares.tolist(), (ordered[chosen] / NS_PER_MS).tolist(), strict=True))


def distinct(values: npt.NDArray[Any]) -> int:
    """How many different values there are; of many that repeat quicker than `numpy.unique`, which hashes them."""
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + 1 if ordered.size else 0


def time_bins(
    sent_ns: Nanoseconds, latency_ns: Nanoseconds, count: int
) -> tuple[tuple[float, float, float, float], ...]:
    """A trial in time order, in `count` bins of equal length: (seconds since the first send, min, median, p99 in ms).

    `sent_ns` ascends. A bin is stamped with its middle; empty ones are left out. The p99 of a small bin is its
    interpolated value without the support rule: it draws a band, it is not quoted.
    """
    start, end = int(sent_ns[0]), int(sent_ns[-1])
    edges = np.linspace(start, end, count + 1)
    cuts = np.searchsorted(sent_ns, edges[1:-1])
    bins = []
    for i, part in enumerate(np.split(latency_ns, cuts)):
        if part.size:
            part = np.sort(part)
            middle_s = (float(edges[i]) + float(edges[i + 1])) / 2 - start
            minimum, median, p99 = float(part[0]), quantile(part, 0.5), quantile(part, 0.99)
            bins.append((middle_s / 1e9, minimum / NS_PER_MS, median / NS_PER_MS, p99 / NS_PER_MS))
    return tuple(bins)


def slowest(sent_ns: Nanoseconds, latency_ns: Nanoseconds, count: int = SLOWEST) -> list[tuple[float, float]]:
    """The slowest requests of a trial: (seconds since the first send, latency in ms), in time order."""
    keep = np.arange(latency_ns.size)
    if latency_ns.size > count:
        keep = np.sort(np.argpartition(latency_ns, -count)[-count:])
    seconds = (sent_ns[keep] - sent_ns[0]) / 1e9
    return list(zip(seconds.tolist(), (latency_ns[keep] / NS_PER_MS).tolist(), strict=True))


def per_second(count: float, duration_s: float) -> float | None:
    """A rate over a measured window; None for a window without length (a single stamp)."""
    return count / duration_s if duration_s > 0 else None
