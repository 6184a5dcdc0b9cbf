"""Fits the cost model: the hosts' own time from near cells, round trips and windows from far ones. Pure.

Where the structure is known (`windows`), the hosts' own time at each size is the weighted mean, over distances, of
what is left when the network is taken off, in every block by itself: blocks are the replicates, as everywhere else.

How far a cell lies off has two parts, one in proportion to the hosts' time and one to the network's. Both are estimated
from the cells of all series together, by maximum likelihood, and each series' own scatter is drawn to them (Smyth 2004,
"Linear models and empirical Bayes methods").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log, sqrt

import numpy as np

from orchestrator.questions.prediction.network import Floats, wire_ms
from orchestrator.questions.prediction.shapes import Fit, ModelCell, Series, Unsure, Windows
from orchestrator.questions.prediction.windows import (
    BEGIN,
    TINY_MS,
    Data,
    NotFittedError,
    Scatter,
    find,
    least,
    least_of_larger,
    variance,
)
from orchestrator.statistics.terms import Reason, ReasonKind

_UNLIKE = 0.5  # round trips that a cell may be off the windows found, where that is more than a tenth of its latency
_PRIOR = 10.0  # degrees of freedom that the scatter of all series has beside that of one
_BOUNDS = (2e-4, 0.3)  # of the scatter
_FEWEST_FREE = 0.5  # sizes, from which on they tell how far one lies off the others


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
    trips: Sequence[float]  # by size, where round trips were found
    is_found: Sequence[bool]  # by size, whether from its own cells
    waiting: Floats  # by cell: its round trip, ms, where it waits for further ones, else 0
    residuals: Floats  # by cell, of means over blocks
    leverage: Floats  # by cell


def fit_all(series: Iterable[Series], cells: Sequence[ModelCell]) -> tuple[tuple[Fit, ...], dict[str, Reason]]:
    """Return the model of every series that has one, and by series id the reason why another has none."""
    refused: dict[str, Reason] = {}
    fitted: list[_Fitted] = []
    of_series: dict[str, list[ModelCell]] = {}
    for cell in cells:
        of_series.setdefault(cell.series, []).append(cell)
    scatter = BEGIN
    for each in series:
        try:
            data = Data(each, of_series.get(each.id, []))
            candidate = _with_hosts(data, *find(data), scatter)
            _require_like_windows(candidate, scatter)  # before its scatter would count for that of all
        except NotFittedError as why:
            refused[each.id] = why.reason
        else:
            fitted.append(candidate)
    for _ in range(2):
        scatter = _scatter(fitted, scatter)
        fitted = [_with_hosts(each.data, each.opening, each.windows, each.beyond_default, scatter) for each in fitted]
    return tuple(_finished(candidate, scatter) for candidate in fitted), refused


def _with_hosts(data: Data, opening: int, windows: Windows, beyond: int, scatter: Scatter) -> _Fitted:
    """The hosts' own time at each size, in every block, under these windows."""
    network = data.network(opening, windows)
    left = data.y - network
    mean_network = network.mean(axis=1)
    trips, is_found, waiting = _round_trips(data, opening, windows)
    hosts = np.maximum(least(data, left.mean(axis=1)), 0.02 * least(data, data.mean_y))
    share = data.in_level
    for _ in range(3):
        share = data.in_level / variance(hosts[data.level], mean_network, scatter)[:, None]
        certain = share.sum(axis=0)
        share = share / certain
        hosts = np.maximum(left.mean(axis=1) @ share, TINY_MS)
        hosts[is_found] = np.maximum(hosts, least_of_larger(float(hosts[0]), 1 / sqrt(float(certain[0]))))[is_found]
    return _Fitted(
        data=data,
        opening=opening,
        windows=windows,
        beyond_default=beyond,
        hosts=hosts,
        by_block=left.T @ share + (hosts - left.mean(axis=1) @ share),
        network=mean_network,
        trips=trips,
        is_found=is_found,
        waiting=waiting,
        residuals=left.mean(axis=1) - hosts[data.level],
        leverage=_leverage(share, waiting, is_found),
    )


def _require_like_windows(fit: _Fitted, scatter: Scatter) -> None:
    """NotFittedError where a cell needs other round trips than the windows found on the other links give it."""
    data = fit.data
    off = np.abs(fit.residuals)
    noise = np.sqrt(variance(fit.hosts[data.level], fit.network, scatter))
    trips = off / data.mean_rtt
    is_unlike = (trips > _UNLIKE) & (off > 0.1 * data.mean_y) & (off > 2 * noise)
    if is_unlike.any():
        worst = int(np.argmax(np.where(is_unlike, off, 0.0)))
        cell, way = data.cells[worst], "more" if fit.residuals[worst] > 0 else "fewer"
        raise NotFittedError(ReasonKind.OTHER_WINDOWS, cell.placement, way, size=cell.size, trips=trips[worst])


def _scatter(fits: Sequence[_Fitted], before: Scatter) -> Scatter:
    """Both parts over all series: the most likely ones, residuals being smaller by their cells' own weight in the fit."""
    from scipy import optimize

    if not fits:
        return before
    names = ("residuals", "network", "leverage")
    residuals, network, leverage = (np.concatenate([getattr(fit, name) for fit in fits]) for name in names)
    hosts = np.concatenate([fit.hosts[fit.data.level] for fit in fits])
    free = np.clip(1 - leverage, 1e-6, 1.0)

    def unlikely(logs: Floats) -> float:
        expected = variance(hosts, network, Scatter(hosts=exp(logs[0]), network=exp(logs[1])))
        return float((free * np.log(expected) + residuals**2 / expected).sum())

    bounds = [(log(_BOUNDS[0]), log(_BOUNDS[1]))] * 2
    begin = np.clip(np.log([before.hosts, before.network]), *bounds[0])
    best = optimize.minimize(unlikely, begin, bounds=bounds, method="Nelder-Mead")
    between = [block_noise(fit.by_block, fit.hosts, [each.hosts for each in _unsure(fit, before)]) for fit in fits]
    return Scatter(hosts=max(exp(float(best.x[0])), float(np.median(between))), network=exp(float(best.x[1])))


def drift(by_block: Floats, hosts: Floats, unsure: Sequence[float]) -> Floats:
    """Return by which share each block was slower than all; sizes whose hosts' time is known best count most."""
    return np.asarray((by_block / hosts - 1) @ _counts(hosts, unsure) / _counts(hosts, unsure).sum())


def block_noise(by_block: Floats, hosts: Floats, unsure: Sequence[float]) -> float:
    """Standard error of the hosts' time at one size, as a share, without what slowed a whole block."""
    blocks = by_block.shape[0]
    counts = _counts(hosts, unsure)
    free = float(counts.sum() - (counts**2).sum() / counts.sum())  # sizes, less the mean that is taken off
    if free < _FEWEST_FREE:
        return 0.0
    noise = by_block / hosts - 1 - drift(by_block, hosts, unsure)[:, None]
    return sqrt(float((noise**2 @ counts).sum()) / ((blocks - 1) * free) / blocks)


def _counts(hosts: Floats, unsure: Sequence[float]) -> Floats:
    """How much the hosts' time at each size counts, as a share of the one that is known best.

    Where no near cell was fitted, it is what is left of much longer times, and may be off by more than all of it.
    """
    known = (hosts / np.maximum(np.array(unsure), TINY_MS)) ** 2
    return np.asarray(known / known.max())


def _unsure(fit: _Fitted, scatter: Scatter) -> tuple[Unsure, ...]:
    """Of each size, from how far its cells may lie off the model: a mean, or a line where round trips were found as well."""
    weights = 1 / variance(fit.hosts[fit.data.level], fit.network, scatter)
    unsure: list[Unsure] = []
    for level in range(fit.data.sizes.size):
        here = fit.data.level == level
        hosts, middle, spread = 1 / sqrt(weights[here].sum()), 0.0, 0.0
        if fit.trips[level] > fit.opening + 1:
            middle, spread = _spread(fit.waiting[here], weights[here])
        # Where it takes as many as the smaller one, or those alone that it takes at least.
        of_smaller = unsure[-1].trips if middle else 0.0
        trips = 1 / sqrt(spread) if fit.is_found[level] and spread > 0 else of_smaller
        unsure.append(Unsure(hosts=hosts, trips=trips, middle=middle))
    return tuple(unsure)


def _spread(values: Floats, weights: Floats) -> tuple[float, float]:
    """Their mean, and the weighted sum of squares around it."""
    middle = float(np.average(values, weights=weights))
    return middle, float((weights * (values - middle) ** 2).sum())


def _leverage(share: Floats, waiting: Floats, is_found: Sequence[bool]) -> Floats:
    """How much of its own residual each cell takes away: by the mean of its size, and by round trips found from it."""
    leverage = share.max(axis=1)
    for level in np.flatnonzero(is_found):
        weights = share[:, level]  # 0 but for the cells of the size
        middle, spread = _spread(waiting, weights)
        if spread > 0:
            leverage = leverage + weights * (waiting - middle) ** 2 / spread
    return np.asarray(leverage)


def _round_trips(data: Data, opening: int, windows: Windows) -> tuple[list[float], list[bool], Floats]:
    """Round trips of each size, and whether they were found from its own cells; of each cell its round trip in ms.

    0 of a cell where the link takes longer than the round trips do, and where none were found.
    """
    rounds, before = dict(windows.rounds), float(opening + 1)
    trips: list[float] = []
    for level in range(data.sizes.size):
        size = float(np.maximum(data.up, data.down)[data.level == level].max())
        trips.append(rounds.get(size, before))
        before = trips[-1]
    is_found = [more > fewer for fewer, more in pairwise([float(opening + 1), *trips])]
    bytes_ms = wire_ms(data.up, data.rate) + wire_ms(data.down, data.rate)
    taken = np.array(trips)[data.level] * data.mean_rtt
    waiting = np.where(taken > (opening + 1) * data.mean_rtt + bytes_ms, data.mean_rtt, 0.0)
    return trips, is_found, waiting


def _finished(fit: _Fitted, scatter: Scatter) -> Fit:
    data = fit.data
    expected = variance(fit.hosts[data.level], fit.network, scatter)
    free = max(1, data.mean_y.size - data.sizes.size - 1 - fit.beyond_default)
    chi2 = float((fit.residuals**2 / expected).sum())
    factor = sqrt((chi2 + _PRIOR) / (free + _PRIOR))
    scatter = Scatter(hosts=scatter.hosts * factor, network=scatter.network * factor)
    rates = data.rate[np.isfinite(data.rate)]
    return Fit(
        series=data.series,
        opening=fit.opening,
        windows=fit.windows,
        sizes=tuple(int(size) for size in data.sizes),
        up=tuple(((data.up @ data.in_level) / data.in_level.sum(axis=0)).tolist()),
        down=tuple(((data.down @ data.in_level) / data.in_level.sum(axis=0)).tolist()),
        hosts=tuple(fit.hosts.tolist()),
        by_block=tuple(map(tuple, fit.by_block.tolist())),
        unsure=_unsure(fit, scatter),
        scatter_hosts=scatter.hosts,
        scatter_network=scatter.network,
        freedom=free + _PRIOR,
        cells=tuple(data.cells),
        rtt_range=(float(data.mean_rtt.min()), float(data.mean_rtt.max())),
        size_range=(float(data.sizes[0]), float(data.sizes[-1])),
        rate_range=(float(rates.min()), float(rates.max())) if rates.size == data.rate.size else None,
    )
