"""Publications as load generators would print them: latencies drawn here, then rounded and bucketed by each tool's rules.

A closed loop draws one service time per request for each of its workers and divides by the wall time they took, so that
mean, percentiles, throughput and concurrency belong together as in a real run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Figures = dict[str, object]
SHARES = {"p10": 10, "p25": 25, "median": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99, "p999": 99.9, "p9999": 99.99}
PROMETHEUS_MS = (5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000)


@dataclass(frozen=True)
class Load:
    """Latencies in ms of all requests of a run, and the requests per second it came to."""

    latencies: np.ndarray
    per_s: float
    concurrency: int


def closed_loop(
    seed: int,
    *,
    concurrency: int = 10,
    requests: int = 20_000,
    typical_ms: float = 2.0,
    path_ms: float = 0.0,
    sigma: float = 0.45,
    think_ms: float = 0.0,
) -> Load:
    """Workers that send again when a reply arrived: log-normal service, one request in 200 stalls, a path below all."""
    rng = np.random.default_rng(seed)
    each = requests // concurrency
    service = rng.lognormal(np.log(typical_ms), sigma, (concurrency, each))
    service[rng.random(service.shape) < 0.005] += rng.exponential(typical_ms * 6)
    latencies = service + path_ms * (1 + 0.02 * rng.random(service.shape))
    wall_s = float((latencies + think_ms).sum(axis=1).max()) / 1000 * 1.002
    return Load(latencies.ravel(), each * concurrency / wall_s, concurrency)


def open_loop(seed: int, *, rate: float, seconds: float, typical_ms: float = 3.0) -> Load:
    """Poisson arrivals, each served at once."""
    rng = np.random.default_rng(seed)
    count = int(rng.poisson(rate * seconds))
    return Load(rng.lognormal(np.log(typical_ms), 0.5, count), count / seconds, 0)


def _rounded(value: float, digits: int) -> float | int:
    return round(float(value), digits) if digits else round(float(value))


def _exact(load: Load, digits: int, shares: tuple[str, ...], method: str = "nearest", **more: object) -> Figures:
    at = np.percentile(load.latencies, [SHARES[name] for name in shares], method=method)  # type: ignore[call-overload]
    figures: Figures = {name: _rounded(value, digits) for name, value in zip(shares, at, strict=True)}
    extremes = {"min": load.latencies.min(), "mean": load.latencies.mean(), "max": load.latencies.max()}
    return {name: _rounded(value, digits) for name, value in extremes.items()} | figures | more


def oha(load: Load) -> Figures:
    """Seconds with four decimals; ten percentiles."""
    return _exact(load, 1, tuple(SHARES), concurrency=load.concurrency, throughput_per_s=round(load.per_s, 4))


def hey(load: Load) -> Figures:
    """Seconds with four decimals."""
    shares = ("p10", "p25", "median", "p75", "p90", "p95", "p99")
    return _exact(load, 1, shares, concurrency=load.concurrency, throughput_per_s=round(load.per_s, 4))


def ghz(load: Load) -> Figures:
    """Milliseconds with two decimals."""
    return _exact(load, 2, ("p10", "p25", "median", "p75", "p90", "p95", "p99"), concurrency=load.concurrency,
                  samples=load.latencies.size, throughput_per_s=round(load.per_s, 2))  # fmt: skip


def k6(load: Load) -> Figures:
    """Interpolated percentiles, two decimals."""
    return _exact(load, 2, ("median", "p90", "p95"), "linear", concurrency=load.concurrency,
                  throughput_per_s=round(load.per_s, 6))  # fmt: skip


def locust(load: Load) -> Figures:
    """Whole milliseconds; percentiles of response times that were cut to two significant digits from 100 ms on."""
    figures = _exact(load, 0, (), throughput_per_s=round(load.per_s, 1))
    for name in ("median", "p75", "p90", "p95", "p99"):
        value = float(np.percentile(load.latencies, SHARES[name], method="nearest"))
        figures[name] = round(value) if value < 100 else round(value, -1) if value < 1000 else round(value, -2)
    return {name: int(value) if name != "throughput_per_s" else value for name, value in figures.items()}  # type: ignore[call-overload]


def jmeter(load: Load) -> Figures:
    """Whole milliseconds, cut off; the mean of those."""
    whole = Load(np.floor(load.latencies), load.per_s, load.concurrency)
    shares = ("median", "p90", "p95", "p99")
    return _exact(whole, 0, shares, concurrency=load.concurrency, throughput_per_s=round(load.per_s, 1))


def wrk(load: Load) -> Figures:
    """Two decimals of the unit in use; no minimum."""
    figures = _exact(load, 2, ("median", "p75", "p90", "p99"), sd=round(float(load.latencies.std(ddof=1)), 2))
    del figures["min"]
    return figures | {"concurrency": load.concurrency, "throughput_per_s": round(load.per_s, 2)}


def prometheus(load: Load, buckets: tuple[int, ...] = PROMETHEUS_MS) -> Figures:
    """histogram_quantile: linear between a bucket's bounds; the mean is sum / count."""
    edges = np.array([0, *buckets], dtype=float)
    counts = np.histogram(load.latencies, np.append(edges, np.inf))[0]
    below = np.concatenate([[0], np.cumsum(counts)])
    figures: Figures = {}
    for name in ("median", "p90", "p95", "p99"):
        rank = SHARES[name] / 100 * load.latencies.size
        bucket = int(np.searchsorted(below[1:], rank))
        if bucket >= len(edges) - 1:
            figures[name] = float(edges[-1])
            continue
        share = (rank - below[bucket]) / counts[bucket]
        figures[name] = round(float(edges[bucket] + (edges[bucket + 1] - edges[bucket]) * share), 4)
    return figures | {"mean": round(float(load.latencies.mean()), 4), "throughput_per_s": round(load.per_s, 3)}


def vegeta(load: Load) -> Figures:
    """Microseconds; percentiles from a t-digest."""
    return _exact(load, 3, ("median", "p90", "p95", "p99"), "linear")


def ab(load: Load) -> Figures:
    """Whole milliseconds, the SD with one decimal, the mean with three."""
    whole = Load(np.round(load.latencies), load.per_s, load.concurrency)
    figures = _exact(whole, 0, ("median", "p75", "p90", "p95", "p99"), sd=round(float(whole.latencies.std()), 1))
    per_request = load.concurrency * 1000 / load.per_s
    return figures | {"mean": round(per_request, 3), "concurrency": load.concurrency,
                      "throughput_per_s": round(load.per_s, 2)}  # fmt: skip


def pgbench(load: Load) -> Figures:
    """Average and standard deviation of transactions, and their rate."""
    return {"mean": round(float(load.latencies.mean()), 3), "sd": round(float(load.latencies.std()), 3),
            "concurrency": load.concurrency, "samples": load.latencies.size,
            "throughput_per_s": round(load.per_s, 6)}  # fmt: skip


def hdr(load: Load, digits: int = 3) -> Figures:
    """Percentiles as the highest value of their HDR bucket, which may lie above the true maximum."""
    figures = _exact(load, 3, ())
    for name in ("median", "p75", "p90", "p99", "p999"):
        value = float(np.percentile(load.latencies, SHARES[name], method="higher"))
        step = 10.0 ** (np.floor(np.log10(value)) - digits + 1)
        figures[name] = round(float(np.ceil(value / step) * step), 3)
    return figures


TOOLS: dict[str, Callable[[Load], Figures]] = {
    "oha": oha, "hey": hey, "ghz": ghz, "k6": k6, "Locust": locust, "JMeter": jmeter, "wrk": wrk,
    "Prometheus": prometheus, "vegeta": vegeta, "ab": ab, "pgbench": pgbench, "wrk2": hdr,
}  # fmt: skip
