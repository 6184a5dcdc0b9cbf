"""Predicts latency at any place, with its causes and interval. Pure, vectorised over places."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from orchestrator.questions.prediction.fit import drift
from orchestrator.questions.prediction.network import Floats, network_ms, unsure_rounds
from orchestrator.questions.prediction.shapes import LEVEL, Fit, Judged
from orchestrator.statistics.intervals import t_quantile

CAUSES = ("distance", "wire", "windows", "hosts")
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
    known = np.array(fitted.hosts)
    hosts = np.maximum(along(sizes, known, size), _LEAST * np.interp(size, sizes, known))
    distance, wire, windows = network_ms(fitted.opening, up, down, rtt, rate, fitted.windows)
    network = distance + wire + windows
    latency = hosts + network
    # Variances, ms squared: of what the fit found, and of round trips between the sizes at which they were found.
    each = np.array([(unsure.hosts**2, unsure.trips**2, unsure.middle) for unsure in fitted.unsure]).T
    of_hosts, of_trips, middle = (np.interp(size, sizes, part) for part in each)
    beside = of_hosts + of_trips * (np.where(windows > 0, rtt, 0.0) - middle) ** 2
    if rounds := fitted.windows.rounds:
        beside = beside + (rtt * unsure_rounds(rounds, np.maximum(up, down)) / _SIGMAS_BETWEEN) ** 2
    beside = beside + (fitted.scatter_hosts * hosts) ** 2 + (fitted.scatter_network * network) ** 2
    by_block = np.array(fitted.by_block)
    slower = drift(by_block, known, [unsure.hosts for unsure in fitted.unsure])  # what slowed whole blocks
    elsewhere = beside + (hosts * float(slower.std(ddof=1)) / sqrt(by_block.shape[0])) ** 2
    parts = (distance, wire, windows, hosts)
    freedom = min(fitted.freedom, 3.0 * (len(fitted.by_block) - 1))
    wider = 1.0 if judged is None else judged.widened.get(fitted.series.id, 1.0)
    return Estimate(
        latency=latency,
        causes=dict(zip(CAUSES, parts, strict=True)),
        half=wider * t_quantile(0.5 + LEVEL / 2, freedom) * np.sqrt(elsewhere) / latency,
        relative=wider * np.sqrt(beside) / latency,
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
    return np.asarray(inside + beyond)
