"""Fits the cost model: the hosts' own time from near cells, round trips and windows from far ones. Pure.

A fit goes in three steps. The round trips of opening are the whole number that is nearest to the slope of the smallest
message over the distance. Windows are searched on a grid: those that the protocol is known to have stay, unless others
describe the cells so much better that what they add pays for itself (Schwarz 1978, the Bayesian information criterion).
Then the hosts' own time at each size is the weighted mean, over distances, of what is left when the network is taken off,
in every block by itself: blocks are the replicates, as everywhere else.

How far a cell lies off has two parts, one in proportion to the hosts' time and one to the network's. Both are estimated
from the cells of all series together, by maximum likelihood, and each series' own scatter is drawn to them (Smyth 2004,
"Linear models and empirical Bayes methods").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import exp, log, sqrt

import numpy as np

from orchestrator.analysis import words
from orchestrator.analysis.intervals import FEWEST_BLOCKS, t_quantile
from orchestrator.analysis.model.network import Floats, Grid, network_ms
from orchestrator.analysis.model.shapes import LEVEL, Fit, Interval, ModelCell, Parameter, Series, Windows
from orchestrator.experiment.plan.series import FEWEST_DISTANCES, FEWEST_SIZES

_LEAST_RANGE_MS = 5.0  # between the nearest and the farthest distance
_WHOLE = 0.25  # round trips that a slope may be off a whole number: what makes either end slower with the distance
_UNLIKE = 0.5  # round trips that a cell may be off the windows found, where that is more than a tenth of its latency
_PRIOR = 10.0  # degrees of freedom that the scatter of all series has beside that of one
_BEGIN = (0.03, 0.004)  # scatter of hosts and network before it is known
_BOUNDS = (2e-4, 0.3)
_GROWTHS = (2.0, 1.5, 2.77)  # of slow start: RFC 5681; with delayed acknowledgements; of BBR
_TINY_MS = 1e-4


class NotFittedError(Exception):
    """Why a series has no model, as a sentence."""


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """By which share of the hosts' and of the network's time a cell lies off, one standard deviation."""

    hosts: float
    network: float


@dataclass(frozen=True, kw_only=True)
class _Fitted:
    """A series between two steps: its structure is found, its scatter is not."""

    data: _Data
    opening: int
    windows: Windows
    beyond_default: int
    hosts: Floats  # by size
    by_block: Floats  # block x size
    network: Floats  # by cell
    residuals: Floats  # by cell, of means over blocks
    leverage: Floats  # by cell


class _Data:
    """The cells of one series as arrays: n cells, b blocks that all of them have, s sizes."""

    def __init__(self, series: Series, cells: Sequence[ModelCell]) -> None:
        self.series = series
        self.all = cells
        self.cells = [cell for cell in cells if not cell.is_sealed and cell.in_flight == 1]
        _require_enough(series, self.cells)
        self.blocks = sorted(set.intersection(*(set(cell.blocks) for cell in self.cells)))
        if len(self.blocks) < FEWEST_BLOCKS:
            few = words.count(len(self.blocks), "block")
            raise NotFittedError(f"{few} of at least {FEWEST_BLOCKS}: plan more `repeats`")
        self.sizes = np.array(sorted({cell.size for cell in self.cells}))
        self.level = np.searchsorted(self.sizes, [cell.size for cell in self.cells])
        self.up, self.down = (np.array([getattr(cell, name) for cell in self.cells]) for name in ("up", "down"))
        self.rate = np.array([cell.rate_mbit or np.inf for cell in self.cells])
        self.rtt, self.y = self._by_block("rtt"), self._by_block("median")
        self.in_level = (self.level[:, None] == np.arange(self.sizes.size)[None, :]).astype(np.float64)

    def _by_block(self, name: str) -> Floats:
        rows = []
        for cell in self.cells:
            values = dict(zip(cell.blocks, getattr(cell, name), strict=True))
            rows.append([values[block] for block in self.blocks])
        return np.array(rows)

    @cached_property
    def mean_rtt(self) -> Floats:
        return np.asarray(self.rtt.mean(axis=1))

    @cached_property
    def mean_y(self) -> Floats:
        return np.asarray(self.y.mean(axis=1))

    def network(self, opening: int, windows: Windows) -> Floats:
        """What the network takes of each cell in each block."""
        column = (slice(None), None)
        parts = network_ms(opening, self.up[column], self.down[column], self.rtt, self.rate[column], Grid.of(windows))
        return sum(parts)  # type: ignore[return-value]


def _require_enough(series: Series, cells: Sequence[ModelCell]) -> None:
    sizes = sorted({cell.size for cell in cells})
    if len(sizes) < FEWEST_SIZES:
        has = words.listed([words.size(size) for size in sizes]) or "none"
        raise NotFittedError(
            f"{words.count(len(sizes), 'payload')} ({has}) of at least {FEWEST_SIZES} that are not sealed:"
            f" add sizes to `{series.operation}`, such as 100 B, 10 kB and 1 MB"
        )
    near = {cell.placement: float(np.mean(cell.rtt)) for cell in cells if cell.size == sizes[0]}
    rtts = sorted(near.values())
    if len(rtts) < FEWEST_DISTANCES or rtts[-1] - rtts[0] < _LEAST_RANGE_MS:
        has = words.listed([words.ms(rtt) for rtt in rtts]) or "none"
        raise NotFittedError(
            f"{words.count(len(rtts), 'distance')} ({has}) of at least {FEWEST_DISTANCES} for the smallest payload, over"
            f" {_LEAST_RANGE_MS:g} ms or more, that are not sealed: add them to `distance`, such as 1ms, 20ms and 80ms"
        )


def fit_all(series: Iterable[Series], cells: Sequence[ModelCell]) -> tuple[tuple[Fit, ...], dict[str, str]]:
    """The model of every series that has one, and by its id why another has none."""
    refused: dict[str, str] = {}
    found: list[_Fitted] = []
    of_series: dict[str, list[ModelCell]] = {}
    for cell in cells:
        of_series.setdefault(cell.series, []).append(cell)
    scatter = Scatter(hosts=_BEGIN[0], network=_BEGIN[1])
    for each in series:
        try:
            of = _structure(_Data(each, of_series.get(each.id, [])), scatter)
            _require_like_windows(of, scatter)  # before its scatter would count for that of all
        except NotFittedError as why:
            refused[each.id] = str(why)
        else:
            found.append(of)
    for _ in range(2):
        scatter = _scatter(found, scatter)
        found = [_with_hosts(of.data, of.opening, of.windows, of.beyond_default, scatter) for of in found]
    return tuple(_told(of, scatter) for of in found), refused


# ---- structure: round trips and windows


def _structure(data: _Data, scatter: Scatter) -> _Fitted:
    opening = _opening(data)
    candidates, beyond = _candidates(data.series)
    parts = network_ms(opening, data.up, data.down, data.mean_rtt, data.rate, Grid.of_all(candidates))
    network = np.broadcast_to(parts[0] + parts[1] + parts[2], (len(candidates), data.mean_y.size))
    left = data.mean_y[None, :] - network
    guess = np.maximum(0.05 * data.mean_y, _least(data, data.mean_y - parts[0] - parts[1])[data.level])
    weights = 1 / _variance(guess, np.maximum(data.mean_y - guess, 0.0), scatter)
    share = data.in_level * weights[:, None]
    hosts = np.maximum(left @ (share / share.sum(axis=0)), _TINY_MS)
    chi2 = ((left - hosts[:, data.level]) ** 2 * weights).sum(axis=1)
    n = data.mean_y.size
    best = int(np.argmin(n * np.log(1 + chi2 / n) + beyond * log(n)))
    return _with_hosts(data, opening, candidates[best], int(beyond[best]), scatter)


def _least(data: _Data, values: Floats) -> Floats:
    """The least value of each size."""
    return np.array([values[data.level == level].min() for level in range(data.sizes.size)])


def _opening(data: _Data) -> int:
    """Round trips of opening: a whole number, and one that the protocol is known to need."""
    small = data.level == 0
    x, y = data.mean_rtt[small], data.mean_y[small]
    weights = 1 / _variance(np.full(x.size, y.min()), y, Scatter(hosts=_BEGIN[0], network=_BEGIN[1]))
    middle = np.average(x, weights=weights)
    slope = float((weights * (x - middle) * y).sum() / (weights * (x - middle) ** 2).sum())
    whole = round(slope)
    if abs(slope - whole) > _WHOLE:
        raise NotFittedError(
            f"the smallest payload takes {slope:.2f} round trips, which is no whole number: look for Nagle's algorithm with"
            " delayed acknowledgements, a queue, or a link that changes"
        )
    fewest, most = (1 + opens for opens in data.series.opens)
    if not fewest <= whole <= most:
        known = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        raise NotFittedError(
            f"the smallest payload takes {slope:.2f} round trips, where the protocol is known to need {known}: connections"
            " may have been kept or opened where they should not, or another host may have answered"
        )
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
    found, beyond = [], []
    for one, growth, limit, is_stepped in product(firsts, growths, steadies, (True, False)):
        found.append(Windows(first=one, growth=growth, steady=limit, is_stepped=is_stepped))
        changes = (one != known.first, growth != known.growth, limit != known.steady, not is_stepped)
        beyond.append(float(sum(changes)))
    return found, np.array(beyond)


def _with_hosts(data: _Data, opening: int, windows: Windows, beyond: int, scatter: Scatter) -> _Fitted:
    """The hosts' own time at each size, in every block, under these windows."""
    network = data.network(opening, windows)
    left = data.y - network
    mean_network = network.mean(axis=1)
    hosts = np.maximum(_least(data, left.mean(axis=1)), 0.02 * _least(data, data.mean_y))
    share = data.in_level
    for _ in range(3):
        share = data.in_level / _variance(hosts[data.level], mean_network, scatter)[:, None]
        share = share / share.sum(axis=0)
        hosts = np.maximum(left.mean(axis=1) @ share, _TINY_MS)
    return _Fitted(
        data=data,
        opening=opening,
        windows=windows,
        beyond_default=beyond,
        hosts=hosts,
        by_block=left.T @ share,
        network=mean_network,
        residuals=left.mean(axis=1) - hosts[data.level],
        leverage=share.max(axis=1),
    )


def _require_like_windows(of: _Fitted, scatter: Scatter) -> None:
    """NotFittedError where a cell needs other round trips than the windows found on the other links give it."""
    data = of.data
    off = np.abs(of.residuals)
    noise = np.sqrt(_variance(of.hosts[data.level], of.network, scatter))
    trips = off / data.mean_rtt
    is_unlike = (trips > _UNLIKE) & (off > 0.1 * data.mean_y) & (off > 2 * noise)
    if is_unlike.any():
        worst = int(np.argmax(np.where(is_unlike, off, 0.0)))
        cell, more = data.cells[worst], "more" if of.residuals[worst] > 0 else "fewer"
        raise NotFittedError(
            f"{words.size(cell.size)} over {cell.placement} take {trips[worst]:.1f} round trips {more} than the windows"
            " that describe its other cells give them: links or trials had different windows"
        )


# ---- scatter


def _variance(hosts: Floats, network: Floats, scatter: Scatter) -> Floats:
    found: Floats = (scatter.hosts * hosts) ** 2 + (scatter.network * network) ** 2 + _TINY_MS**2
    return found


def _scatter(found: Sequence[_Fitted], before: Scatter) -> Scatter:
    """Both parts over all series: the most likely ones, residuals being smaller by their cells' own weight in the fit."""
    from scipy import optimize

    if not found:
        return before
    residuals, network, leverage = (
        np.concatenate([getattr(of, name) for of in found]) for name in ("residuals", "network", "leverage")
    )
    hosts = np.concatenate([of.hosts[of.data.level] for of in found])
    free = np.clip(1 - leverage, 1e-6, 1.0)

    def unlikely(logs: Floats) -> float:
        variance = _variance(hosts, network, Scatter(hosts=exp(logs[0]), network=exp(logs[1])))
        return float((free * np.log(variance) + residuals**2 / variance).sum())

    bounds = [(log(_BOUNDS[0]), log(_BOUNDS[1]))] * 2
    best = optimize.minimize(unlikely, [log(before.hosts), log(before.network)], bounds=bounds, method="Nelder-Mead")
    between = [block_noise(of.by_block, of.hosts) for of in found]
    return Scatter(hosts=max(exp(float(best.x[0])), float(np.median(between))), network=exp(float(best.x[1])))


def drift(by_block: Floats, hosts: Floats) -> Floats:
    """By which share each block was slower than all, over all sizes."""
    found: Floats = (by_block / hosts).mean(axis=1) - 1
    return found


def block_noise(by_block: Floats, hosts: Floats) -> float:
    """Standard error of the hosts' time at one size, as a share, without what slowed a whole block."""
    blocks, sizes = by_block.shape
    if sizes < 2:
        return 0.0
    noise = by_block / hosts - 1 - drift(by_block, hosts)[:, None]
    return sqrt(float((noise**2).sum()) / ((blocks - 1) * (sizes - 1)) / blocks)


# ---- what is told


def _told(of: _Fitted, scatter: Scatter) -> Fit:
    data = of.data
    variance = _variance(of.hosts[data.level], of.network, scatter)
    free = max(1, data.mean_y.size - data.sizes.size - 1 - of.beyond_default)
    chi2 = float((of.residuals**2 / variance).sum())
    factor = sqrt((chi2 + _PRIOR) / (free + _PRIOR))
    own, per_kb = _line(data.sizes.astype(np.float64), of.by_block, of.hosts)
    rates = data.rate[np.isfinite(data.rate)]
    return Fit(
        series=data.series,
        opening=of.opening,
        windows=of.windows,
        sizes=tuple(int(size) for size in data.sizes),
        up=_by_size(data, data.up),
        down=_by_size(data, data.down),
        hosts=_floats(of.hosts),
        by_block=tuple(_floats(row) for row in of.by_block),
        requester_cpu=_cpu(data, "requester_cpu"),
        responder_cpu=_cpu(data, "responder_cpu"),
        own=own,
        per_kb=per_kb,
        scatter_hosts=scatter.hosts * factor,
        scatter_network=scatter.network * factor,
        freedom=free + _PRIOR,
        off_by=float(np.median(np.abs(of.residuals) / data.mean_y)),
        cells=tuple(data.cells),
        rtt_range=(float(data.mean_rtt.min()), float(data.mean_rtt.max())),
        size_range=(float(data.sizes[0]), float(data.sizes[-1])),
        rate_range=(float(rates.min()), float(rates.max())) if rates.size == data.rate.size else None,
        in_flight_range=(1, max(cell.in_flight for cell in data.all)),
    )


def _line(sizes: Floats, by_block: Floats, hosts: Floats) -> tuple[Parameter, Parameter]:
    """A line through the hosts' time over sizes, relative errors being alike, in each block."""
    weights = 1 / hosts**2
    middle = np.average(sizes, weights=weights)
    moment = (weights * (sizes - middle) ** 2).sum()
    slopes = (by_block * (weights * (sizes - middle))).sum(axis=1) / moment
    at_zero = (by_block * weights).sum(axis=1) / weights.sum() - slopes * middle
    return _parameter(at_zero), _parameter(slopes * 1_000)


def _parameter(values: Floats) -> Parameter:
    mean, n = float(values.mean()), values.size
    half = t_quantile(0.5 + LEVEL / 2, n - 1) * float(values.std(ddof=1)) / sqrt(n)
    interval: Interval = (mean - half, mean + half)
    return Parameter(value=mean, interval=interval)


def _by_size(data: _Data, values: Floats) -> tuple[float, ...]:
    return _floats((values @ data.in_level) / data.in_level.sum(axis=0))


def _cpu(data: _Data, name: str) -> tuple[float, ...]:
    """CPU time at each size, of its nearest cell; empty where some size has none."""
    found = []
    for level in range(data.sizes.size):
        near = sorted(
            (float(data.mean_rtt[place]), value)
            for place in np.flatnonzero(data.level == level)
            if (value := getattr(data.cells[place], name)) is not None
        )
        if not near:
            return ()
        found.append(near[0][1])
    return tuple(found)


def _floats(values: Floats) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def without_cells(fitted: Fit) -> Fit:
    """The same without the cells that it was fitted to."""
    return replace(fitted, cells=())
