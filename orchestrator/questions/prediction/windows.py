"""Finds the round trips of opening, and the windows that hold transfers back: the structure of a fit. Pure.

Round trips of opening are the whole number nearest to the slope of the smallest message over the distance. Windows are
searched on a grid, by the Bayesian information criterion (Schwarz 1978). Where none describe the cells, each size has the
round trips that it was seen to take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import log, sqrt

import numpy as np

from orchestrator.experiment.plan.schedule import FEWEST_DISTANCES, FEWEST_SIZES
from orchestrator.questions.prediction.network import Floats, Grid, network_ms, wire_ms
from orchestrator.questions.prediction.shapes import ModelCell, Series, Windows
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.terms import Reason, ReasonKind

TINY_MS = 1e-4
LEAST_RANGE_MS = 5.0  # between the nearest and the farthest distance


class NotFittedError(Exception):
    """Why a series has no model."""

    def __init__(self, kind: ReasonKind, *names: str, **numbers: float) -> None:
        super().__init__(kind)
        self.reason = Reason(kind=kind, names=names, numbers=numbers)


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """By which share of the hosts' and of the network's time a cell lies off, one standard deviation."""

    hosts: float
    network: float


BEGIN = Scatter(hosts=0.03, network=0.004)
"""Before anything is known of it."""


def variance(hosts: Floats, network: Floats, scatter: Scatter) -> Floats:
    """Of cells whose hosts and network take so long, ms squared."""
    return np.asarray((scatter.hosts * hosts) ** 2 + (scatter.network * network) ** 2 + TINY_MS**2)


class Data:
    """The cells of one series as arrays: n cells, b blocks that all of them have, s sizes."""

    def __init__(self, series: Series, cells: Sequence[ModelCell]) -> None:
        self.series = series
        self.cells = [cell for cell in cells if not cell.is_sealed]
        _require_enough(series, self.cells)
        self.blocks = sorted(set.intersection(*(set(cell.blocks) for cell in self.cells)))
        if len(self.blocks) < FEWEST_BLOCKS:
            raise NotFittedError(ReasonKind.FEW_BLOCKS, blocks=len(self.blocks), needed=FEWEST_BLOCKS)
        self.sizes = np.array(sorted({cell.size for cell in self.cells}))
        self.level = np.searchsorted(self.sizes, [cell.size for cell in self.cells])
        self.up, self.down = (np.array([getattr(cell, name) for cell in self.cells]) for name in ("up", "down"))
        self.rate = np.array([cell.rate_mbit or np.inf for cell in self.cells])
        self.rtt, self.y = self._by_block("rtt"), self._by_block("median")
        # The round trip and the median latency of each cell over all blocks, ms.
        self.mean_rtt, self.mean_y = (np.asarray(values.mean(axis=1)) for values in (self.rtt, self.y))
        self.in_level = (self.level[:, None] == np.arange(self.sizes.size)[None, :]).astype(np.float64)

    def _by_block(self, name: str) -> Floats:
        rows = []
        for cell in self.cells:
            values = dict(zip(cell.blocks, getattr(cell, name), strict=True))
            rows.append([values[block] for block in self.blocks])
        return np.array(rows)

    def network(self, opening: int, windows: Windows) -> Floats:
        """What the network takes of each cell in each block."""
        column = (slice(None), None)
        parts = network_ms(opening, self.up[column], self.down[column], self.rtt, self.rate[column], windows)
        return sum(parts)  # type: ignore[return-value]


def _require_enough(series: Series, cells: Sequence[ModelCell]) -> None:
    sizes = sorted({cell.size for cell in cells})
    if len(sizes) < FEWEST_SIZES:
        raise NotFittedError(ReasonKind.FEW_SIZES, "payload", series.operation, **{str(size): size for size in sizes})
    near = {cell.placement: float(np.mean(cell.rtt)) for cell in cells if cell.size == sizes[0]}
    rtts = sorted(near.values())
    if len(rtts) < FEWEST_DISTANCES or rtts[-1] - rtts[0] < LEAST_RANGE_MS:
        raise NotFittedError(ReasonKind.FEW_DISTANCES, "round trip", **{f"{rtt}": rtt for rtt in rtts})


def least(data: Data, values: Floats) -> Floats:
    """The least value of each size."""
    return np.array([values[data.level == level].min() for level in range(data.sizes.size)])


# ---- the structure of a fit

_WHOLE = 0.25  # round trips that a slope may be off a whole number: what makes either end slower with the distance
_GROWTHS = (2.0, 1.5, 2.77)  # of slow start: RFC 5681; with delayed acknowledgements; of BBR
_FREE = Windows(first=None, growth=2.0, steady=None, is_stepped=True)
_TRIPS: Floats = np.float64(1.02) ** np.arange(240.0)  # times the fewest round trips, up to a hundred times as many


def find(data: Data) -> tuple[int, Windows, int]:
    """Round trips of opening, windows, and by how many things these go beyond what the protocol is known to have.

    NotFittedError where opening takes no whole number of round trips, or another one than it is known to.
    """
    opening = _opening(data)
    plain = network_ms(opening, data.up, data.down, data.mean_rtt, data.rate, _FREE)
    guess = np.maximum(0.05 * data.mean_y, least(data, data.mean_y - plain[0] - plain[1])[data.level])
    weights = 1 / variance(guess, np.maximum(data.mean_y - guess, 0.0), BEGIN)
    candidates, beyond = _candidates(data.series)
    windows, score, freed = _best(data, opening, weights, candidates, beyond)
    nearby, beyond_nearby = _nearby(windows, freed)
    if nearby:
        windows, score, freed = min(
            (windows, score, freed),
            _best(data, opening, weights, nearby, beyond_nearby),
            key=lambda candidate: candidate[1],
        )
    rounds, chi2, sizes = _rounds(data, opening, weights)
    if sizes and _score(data, np.array([chi2]), np.array([float(sizes)]))[0] < score:
        windows, freed = replace(_FREE, rounds=rounds), sizes
    return opening, windows, freed


def _best(
    data: Data, opening: int, weights: Floats, candidates: list[Windows], beyond: Floats
) -> tuple[Windows, float, int]:
    """The windows that describe the cells best for what they add, with their score."""
    parts = network_ms(opening, data.up, data.down, data.mean_rtt, data.rate, Grid.of_all(candidates))
    left = data.mean_y[None, :] - np.broadcast_to(sum(parts), (len(candidates), data.mean_y.size))
    share = data.in_level * weights[:, None]
    hosts = np.maximum(left @ (share / share.sum(axis=0)), TINY_MS)
    scores = _score(data, ((left - hosts[:, data.level]) ** 2 * weights).sum(axis=1), beyond)
    best = int(np.argmin(scores))
    return candidates[best], float(scores[best]), int(beyond[best])


def _score(data: Data, chi2: Floats, beyond: Floats) -> Floats:
    n = data.mean_y.size
    return np.asarray(n * np.log(1 + chi2 / n) + beyond * log(n))


def _nearby(windows: Windows, beyond: int) -> tuple[list[Windows], Floats]:
    """Windows between the values of the grid, where it chose windows that the protocol is not known to have."""
    nearby = []
    steps = 2.0 ** np.linspace(-0.5, 0.5, 81)
    if beyond and windows.steady is not None:
        nearby += [replace(windows, steady=float(windows.steady * step)) for step in steps]
    if beyond and windows.first is not None:
        nearby += [replace(windows, first=float(windows.first * step)) for step in steps]
    return nearby, np.full(len(nearby), beyond + 1.0)  # of windows that are as likely, that of the grid stays


def _rounds(data: Data, opening: int, weights: Floats) -> tuple[tuple[tuple[float, float], ...], float, int]:
    """Round trips of each size as they are, with what they leave (chi square), and how many sizes take more than they must.

    A larger message takes no fewer, and no less of the hosts' time than the smallest. Up to the first window, which a kept
    connection has at least, none waits.
    """
    places: list[tuple[float, float]] = []
    trips, total, freed, least_hosts = float(opening + 1), 0.0, 0, TINY_MS
    for level in range(data.sizes.size):
        here = data.level == level
        y, w, rtt = data.mean_y[here], weights[here], data.mean_rtt[here]
        size = float(np.maximum(data.up, data.down)[here].max())
        fewest = (opening + 1) * rtt + wire_ms(data.up[here] + data.down[here], data.rate[here])
        tried, chi2 = trips * _TRIPS, _left_over(trips * _TRIPS, y, w, rtt, fewest, least_hosts)
        best = int(np.argmin(chi2)) if level else 0
        if chi2[best] + log(data.mean_y.size) >= chi2[0]:
            best = 0
        if best:
            freed += 1
            first = data.series.first_window
            if places and places[-1][0] < first < size and places[-1][1] == opening + 1:
                places.append((first, trips))
            near: Floats = tried[best] * np.linspace(1 / _TRIPS[1], _TRIPS[1], 41)
            fine = _left_over(near, y, w, rtt, fewest, least_hosts)
            trips, left = float(near[np.argmin(fine)]), float(fine.min())
        else:
            left = float(chi2[0])
        total += left
        places.append((size, trips))
        if not level:
            least_hosts = least_of_larger(float(np.average(y - fewest, weights=w)), 1 / sqrt(float(w.sum())))
    return tuple(places), total, freed


def least_of_larger(hosts: float, unsure: float) -> float:
    """What larger messages take of the hosts' time at least, ms, where the smallest one takes this, give or take."""
    return max(hosts - unsure, TINY_MS)


def _left_over(trips: Floats, y: Floats, weights: Floats, rtt: Floats, fewest: Floats, least_hosts: float) -> Floats:
    """Chi square of one size for each number of round trips, the hosts' time being the best one."""
    left = y[None, :] - np.maximum(fewest[None, :], trips[:, None] * rtt[None, :])
    hosts = np.maximum(left @ (weights / weights.sum()), least_hosts)
    return np.asarray(((left - hosts[:, None]) ** 2 * weights).sum(axis=1))


def _opening(data: Data) -> int:
    """Round trips of opening: a whole number, and one that the protocol is known to need."""
    small = data.level == 0
    x, y = data.mean_rtt[small], data.mean_y[small]
    weights = 1 / variance(np.full(x.size, y.min()), y, BEGIN)
    middle = np.average(x, weights=weights)
    slope = float((weights * (x - middle) * y).sum() / (weights * (x - middle) ** 2).sum())
    whole = round(slope)
    if abs(slope - whole) > _WHOLE:
        raise NotFittedError(ReasonKind.NOT_WHOLE, trips=slope)
    fewest, most = (1 + opens for opens in data.series.opens)
    if not fewest <= whole <= most:
        raise NotFittedError(ReasonKind.OTHER_TRIPS, trips=slope, low=fewest, high=most)
    return whole - 1


def _candidates(series: Series) -> tuple[list[Windows], Floats]:
    """Windows to choose among, and by how much each goes beyond what the protocol is known to have; that one is first."""
    is_new = series.connection == "per-request"
    first = series.first_window if is_new else None
    steady = None if series.window is None else float(series.window)
    known = Windows(first=first, growth=2.0, steady=steady, is_stepped=True)
    step = 1.0 if is_new else 0.25  # octaves
    around = [float(2.0**power) for power in np.arange(12.0, 24.0 + step, step)]
    steadies: list[float | None] = [steady, *([None] if steady is not None else []), *around]
    octaves = [*np.arange(-1.5, 3.0, 0.25), *np.arange(3.0, 8.0)]
    firsts = [first, *(float(first * 2.0**power) for power in octaves if power)] if first else [None]
    growths = _GROWTHS if is_new else (2.0,)
    windows, beyond = [], []
    for begin, growth, limit, is_stepped in product(firsts, growths, steadies, (True, False)):
        windows.append(Windows(first=begin, growth=growth, steady=limit, is_stepped=is_stepped))
        changes = (begin != known.first, growth != known.growth, limit != known.steady, not is_stepped)
        beyond.append(float(sum(changes)))
    return windows, np.array(beyond)
