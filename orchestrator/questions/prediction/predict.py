"""Predicts latency at any place, with its causes and interval. Pure, vectorised over places."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from orchestrator.questions.prediction.fit import drift
from orchestrator.questions.prediction.network import Floats, network_ms, unsure_rounds
from orchestrator.questions.prediction.shapes import LEVEL, Fit, Judged
from orchestrator.statistics.intervals import t_quantile

CAUSES = ("distance", "wire", "windows", "hosts", "client")
_SIGMAS_BETWEEN = 1.645  # either size beside it is within 90 %
_LEAST = 0.2  # of the hosts' time at the nearest size: what a line beyond the sizes measured cannot fall below


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where to predict: arrays that numpy spreads over one another. An unknown rate is infinite."""

    rtt: Floats
    size: Floats
    rate_mbit: Floats

    @classmethod
    def one(cls, rtt: float, size: float, rate_mbit: float | None) -> Places:
        """A single one."""
        rate = np.inf if rate_mbit is None else rate_mbit
        return cls(rtt=np.array(rtt), size=np.array(size), rate_mbit=np.array(rate))


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What the model predicts of places: arrays of their shape, ms.

    On the scale of logarithms, `half` is half of the 90 % interval, and `relative` the standard deviation beside a cell of
    the same blocks: `half` holds what slowed whole blocks as well.
    """

    latency: Floats
    causes: dict[str, Floats]
    half: Floats
    relative: Floats
    freedom: float


def estimate(fitted: Fit, places: Places, judged: Judged | None = None) -> Estimate:
    """Return the prediction of a series at these places, its intervals as wide as the sealed cells of `judged` make them.

    Whether the places are near enough to what was measured, `refusals` tells.
    """
    sizes = np.array(fitted.sizes, dtype=np.float64)
    rtt, size, rate = np.broadcast_arrays(places.rtt, places.size, places.rate_mbit)
    size = size.astype(np.float64)
    up, down = (np.maximum(along(sizes, np.array(values), size), 1.0) for values in (fitted.up, fitted.down))
    hosts = _hosts(fitted, size)
    distance, wire, windows = network_ms(fitted.opening, up, down, rtt, rate, fitted.windows)
    latency = hosts + distance + wire + windows
    client = np.minimum(_cpu(fitted.requester_cpu, sizes, size), hosts)
    waits = np.where(windows > 0, rtt, 0.0)
    unsure = _unsure(fitted, sizes, size, waits) + (rtt * _between(fitted, np.maximum(up, down))) ** 2
    beside, elsewhere = _deviations(fitted, hosts, distance + wire + windows, unsure)
    parts = (distance, wire, windows, hosts - client, client)
    freedom = min(fitted.freedom, 3.0 * (len(fitted.by_block) - 1))
    wider = 1.0 if judged is None else judged.widened.get(fitted.series.id, 1.0)
    return Estimate(
        latency=latency,
        causes=dict(zip(CAUSES, parts, strict=True)),
        half=wider * t_quantile(0.5 + LEVEL / 2, freedom) * elsewhere / latency,
        relative=wider * beside / latency,
        freedom=freedom,
    )


def along(sizes: Floats, values: Floats, at_size: Floats) -> Floats:
    """Values on straight lines between sizes, and on the outermost line beyond them."""
    inside = np.interp(at_size, sizes, values)
    if sizes.size < 2:
        return inside
    low = (values[1] - values[0]) / (sizes[1] - sizes[0])
    high = (values[-1] - values[-2]) / (sizes[-1] - sizes[-2])
    beyond = np.maximum(at_size - sizes[-1], 0.0) * high + np.minimum(at_size - sizes[0], 0.0) * low
    along_line: Floats = inside + beyond
    return along_line


def _hosts(fitted: Fit, size: Floats) -> Floats:
    sizes, hosts = np.array(fitted.sizes, dtype=np.float64), np.array(fitted.hosts)
    nearest = np.interp(size, sizes, hosts)
    times: Floats = np.maximum(along(sizes, hosts, size), _LEAST * nearest)
    return times


def _cpu(values: tuple[float, ...], sizes: Floats, size: Floats) -> Floats:
    return np.maximum(along(sizes, np.array(values), size), 0.0) if values else np.zeros_like(size)


def _unsure(fitted: Fit, sizes: Floats, size: Floats, waits: Floats) -> Floats:
    """Variance of what the fit found, ms squared; `waits` is the round trip where messages wait for more of them, else 0."""
    parts = np.array([(each.hosts**2, each.trips**2, each.middle) for each in fitted.unsure]).T
    hosts, trips, middle = (np.interp(size, sizes, part) for part in parts)
    return np.asarray(hosts + trips * (waits - middle) ** 2)


def _between(fitted: Fit, size: Floats) -> Floats:
    """Standard deviation of round trips between the sizes at which they were found."""
    rounds = fitted.windows.rounds
    return unsure_rounds(rounds, size) / _SIGMAS_BETWEEN if rounds else np.zeros_like(size)


def _deviations(fitted: Fit, hosts: Floats, network: Floats, unsure: Floats) -> tuple[Floats, Floats]:
    by_block, means = np.array(fitted.by_block), np.array(fitted.hosts)
    beside = unsure + (fitted.scatter_hosts * hosts) ** 2 + (fitted.scatter_network * network) ** 2
    blocks = drift(by_block, means, [each.hosts for each in fitted.unsure])
    whole = hosts * float(blocks.std(ddof=1)) / sqrt(by_block.shape[0])
    return np.sqrt(beside), np.sqrt(beside + whole**2)
