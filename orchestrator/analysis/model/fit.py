"""Fits the cost model: the hosts' own time from near cells, round trips and windows from far ones. Pure.

Where the structure is known (`windows_found`), the hosts' own time at each size is the weighted mean, over distances, of
what is left when the network is taken off, in every block by itself: blocks are the replicates, as everywhere else.

How far a cell lies off has two parts, one in proportion to the hosts' time and one to the network's. Both are estimated
from the cells of all series together, by maximum likelihood, and each series' own scatter is drawn to them (Smyth 2004,
"Linear models and empirical Bayes methods").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from orchestrator.analysis import words
from orchestrator.analysis.intervals import t_quantile
from orchestrator.analysis.model.network import Floats
from orchestrator.analysis.model.series_data import BEGIN, TINY_MS, Data, NotFittedError, Scatter, least, variance
from orchestrator.analysis.model.shapes import LEVEL, Fit, Interval, ModelCell, Parameter, Series, Windows
from orchestrator.analysis.model.windows_found import find

_UNLIKE = 0.5  # round trips that a cell may be off the windows found, where that is more than a tenth of its latency
_PRIOR = 10.0  # degrees of freedom that the scatter of all series has beside that of one
_BOUNDS = (2e-4, 0.3)  # of the scatter


@dataclass(frozen=True, kw_only=True)
class _Fitted:
    """A series between two steps: its structure is found, its scatter is not."""

    data: Data
    opening: int
    windows: Windows
    beyond_default: int
    hosts: Floats  # by size
    by_block: Floats  # block x size
    network: Floats  # by cell
    residuals: Floats  # by cell, of means over blocks
    leverage: Floats  # by cell


def fit_all(series: Iterable[Series], cells: Sequence[ModelCell]) -> tuple[tuple[Fit, ...], dict[str, str]]:
    """The model of every series that has one, and by its id why another has none."""
    refused: dict[str, str] = {}
    found: list[_Fitted] = []
    of_series: dict[str, list[ModelCell]] = {}
    for cell in cells:
        of_series.setdefault(cell.series, []).append(cell)
    scatter = BEGIN
    for each in series:
        try:
            data = Data(each, of_series.get(each.id, []))
            of = _with_hosts(data, *find(data), scatter)
            _require_like_windows(of, scatter)  # before its scatter would count for that of all
            _require_like_blocks(of)
        except NotFittedError as why:
            refused[each.id] = str(why)
        else:
            found.append(of)
    for _ in range(2):
        scatter = _scatter(found, scatter)
        found = [_with_hosts(of.data, of.opening, of.windows, of.beyond_default, scatter) for of in found]
    return tuple(_told(of, scatter) for of in found), refused


def _with_hosts(data: Data, opening: int, windows: Windows, beyond: int, scatter: Scatter) -> _Fitted:
    """The hosts' own time at each size, in every block, under these windows."""
    network = data.network(opening, windows)
    left = data.y - network
    mean_network = network.mean(axis=1)
    hosts = np.maximum(least(data, left.mean(axis=1)), 0.02 * least(data, data.mean_y))
    share = data.in_level
    for _ in range(3):
        share = data.in_level / variance(hosts[data.level], mean_network, scatter)[:, None]
        share = share / share.sum(axis=0)
        hosts = np.maximum(left.mean(axis=1) @ share, TINY_MS)
    return _Fitted(
        data=data,
        opening=opening,
        windows=windows,
        beyond_default=beyond,
        hosts=hosts,
        by_block=left.T @ share,
        network=mean_network,
        residuals=left.mean(axis=1) - hosts[data.level],
        leverage=np.minimum(share.max(axis=1) + _of_rounds(data, windows, hosts, mean_network, scatter), 1.0),
    )


def _of_rounds(data: Data, windows: Windows, hosts: Floats, network: Floats, scatter: Scatter) -> Floats:
    """The weight that a cell has in the round trips of its size, where those are taken as they are."""
    if not windows.rounds:
        return np.zeros_like(network)
    weights = 1 / variance(hosts[data.level], network, scatter)
    share = data.in_level * weights[:, None]
    middle = (data.mean_rtt @ share) / share.sum(axis=0)
    moments = weights * (data.mean_rtt - middle[data.level]) ** 2
    return np.asarray(moments / np.maximum(moments @ data.in_level, TINY_MS)[data.level])


def _require_like_windows(of: _Fitted, scatter: Scatter) -> None:
    """NotFittedError where a cell needs other round trips than the windows found on the other links give it."""
    data = of.data
    off = np.abs(of.residuals)
    noise = np.sqrt(variance(of.hosts[data.level], of.network, scatter))
    trips = off / data.mean_rtt
    is_unlike = (trips > _UNLIKE) & (off > 0.1 * data.mean_y) & (off > 2 * noise)
    if is_unlike.any():
        worst = int(np.argmax(np.where(is_unlike, off, 0.0)))
        cell, more = data.cells[worst], "more" if of.residuals[worst] > 0 else "fewer"
        raise NotFittedError(
            f"{words.size(cell.size)} over {cell.placement} take {trips[worst]:.1f} round trips {more} than the windows"
            " that describe its other cells give them: links or trials had different windows"
        )


def _require_like_blocks(of: _Fitted) -> None:
    """NotFittedError where far trials took other round trips in one block than in most: their mean is what neither takes.

    One trial alone may be chance: two of one block, or of one cell, are not.
    """
    data = of.data
    left = data.y - data.network(of.opening, of.windows)
    off = left - np.median(left, axis=1)[:, None]
    hosts, rtt = of.hosts[data.level], data.mean_rtt
    least_off = np.maximum(
        np.maximum(_UNLIKE * rtt, 0.1 * data.mean_y), hosts
    )  # more than hosts that are busy for once
    is_off = (np.abs(off) > least_off[:, None]) & (rtt > hosts)[:, None]
    is_unlike = np.zeros_like(is_off)
    for is_side in (is_off & (off > 0), is_off & (off < 0)):
        is_unlike |= is_side & ((is_side.sum(axis=0) > 1)[None, :] | (is_side.sum(axis=1) > 1)[:, None])
    if is_unlike.any():
        place, number = np.unravel_index(int(np.argmax(np.where(is_unlike, np.abs(off), 0.0))), off.shape)
        cell, more = data.cells[place], "more" if off[place, number] > 0 else "fewer"
        raise NotFittedError(
            f"{words.size(cell.size)} over {cell.placement} took {abs(off[place, number]) / rtt[place]:.1f} round trips"
            f" {more} in block {data.blocks[number] + 1} than in most: a window or the link changed while it ran"
        )


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
        expected = variance(hosts, network, Scatter(hosts=exp(logs[0]), network=exp(logs[1])))
        return float((free * np.log(expected) + residuals**2 / expected).sum())

    bounds = [(log(_BOUNDS[0]), log(_BOUNDS[1]))] * 2
    begin = [
        min(max(log(part), low), high) for part, (low, high) in zip((before.hosts, before.network), bounds, strict=True)
    ]
    best = optimize.minimize(unlikely, begin, bounds=bounds, method="Nelder-Mead")
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


def _told(of: _Fitted, scatter: Scatter) -> Fit:
    data = of.data
    expected = variance(of.hosts[data.level], of.network, scatter)
    free = max(1, data.mean_y.size - data.sizes.size - 1 - of.beyond_default)
    chi2 = float((of.residuals**2 / expected).sum())
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


def _by_size(data: Data, values: Floats) -> tuple[float, ...]:
    return _floats((values @ data.in_level) / data.in_level.sum(axis=0))


def _cpu(data: Data, name: str) -> tuple[float, ...]:
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
