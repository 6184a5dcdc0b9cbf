"""Predictions over a grid of round trips and payloads, or of one place. Pure, vectorised.

One surface for each way to make requests, operation, and rate of the links.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor, log10

import numpy as np
import numpy.typing as npt

from orchestrator.questions.prediction.network import Floats
from orchestrator.questions.prediction.predict import Estimate, Places, estimate
from orchestrator.questions.prediction.refusals import BEYOND, Reader, refusals
from orchestrator.questions.prediction.shapes import Fit, Judged, Modelled, Series
from orchestrator.statistics.intervals import ALPHA, t_quantile
from orchestrator.statistics.terms import Interval, Reason, ReasonKind, because

Grid = npt.NDArray[np.int64]

NONE, UNSURE, EVEN = -1, -2, 0
"""Codes of a place: fewer than two stacks are predicted, no significant difference, it does not matter."""

ABSENT, FIRST, TIE, UNRESOLVED, SLOWER = range(-1, 4)
_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)  # of a decade
_MOST_STACKS = 26  # on one map: as many as there are letters


@dataclass(frozen=True, kw_only=True)
class Way:
    """What a surface is of: stacks that make their requests in the same way. `refused` has by label why one is not on it.

    `rate_mbit` of the links: None where nobody knows it, or where each stack's own is meant.
    """

    rate_mbit: float | None
    fits: tuple[Fit, ...]
    judged: Judged | None
    matters: float
    refused: dict[str, tuple[Reason, ...]] = field(default_factory=dict)

    @property
    def setting(self) -> str:
        """How the requests of all its stacks are made."""
        return self.fits[0].series.setting

    @property
    def operation(self) -> str:
        """What all of them ask."""
        return self.fits[0].series.operation


@dataclass(frozen=True, kw_only=True)
class Surface:
    """A way's predictions: arrays of stack x round trip x size, NaN where nothing is predicted.

    `half` is half of the 90 % interval of a latency, on the scale of logarithms; `relative` the standard deviation beside
    another stack. `standing` is that to the quickest: ABSENT, FIRST, TIE, UNRESOLVED or SLOWER. `codes`, of round trip x
    size: NONE, EVEN, UNSURE, or the bits of the stacks that may be the quickest: one bit is a winner.
    """

    way: Way
    rtts: Floats
    sizes: Floats
    latency: Floats
    causes: dict[str, Floats]
    half: Floats
    relative: Floats
    standing: Grid
    codes: Grid

    @property
    def series(self) -> tuple[Series, ...]:
        """Of each stack, in the order of the first axis."""
        return tuple(fit.series for fit in self.way.fits)

    @property
    def apart(self) -> Floats:
        """How many ms the slowest stack takes more than the quickest; NaN where fewer than two are predicted."""
        known = np.where(np.isnan(self.latency), np.inf, self.latency).min(axis=0)
        most = np.where(np.isnan(self.latency), -np.inf, self.latency).max(axis=0)
        return np.where(self.codes == NONE, np.nan, most - np.where(np.isfinite(known), known, 0.0))

    def names(self, code: int) -> list[str]:
        """The labels of the stacks whose bits a code has."""
        return [series.label for place, series in enumerate(self.series) if code > 0 and code >> place & 1]


def ways(modelled: Modelled, matters: float) -> tuple[Way, ...]:
    """Return what there are maps of; a way without a prediction is left out."""
    judged = modelled.judged
    by_call: dict[tuple[object, str], list[Fit]] = {}
    for fit in modelled.fits:
        by_call.setdefault((fit.series.call, fit.series.operation), []).append(fit)
    results = []
    for key, fits in by_call.items():
        known = sorted(
            {rate for fit in fits for rate in fit.rate_range or ()}
        )  # of the links: the least and the largest
        for rate in dict.fromkeys((known[0], known[-1])) if known else (None,):
            kept, refused = _predicted(fits, judged, rate)
            refused |= {
                series.label: (modelled.not_fitted[series.id],)
                for series in modelled.series
                if series.id in modelled.not_fitted and (series.call, series.operation) == key
            }
            if kept:
                results.append(Way(fits=kept, rate_mbit=rate, judged=judged, matters=matters, refused=refused))
    return tuple(results)


def _predicted(
    fits: Sequence[Fit], judged: Judged | None, rate: float | None
) -> tuple[tuple[Fit, ...], dict[str, tuple[Reason, ...]]]:
    kept: list[Fit] = []
    refused: dict[str, tuple[Reason, ...]] = {}
    for fit in fits:
        within = Reader(rtt=fit.rtt_range[0], size=round(fit.size_range[0]), rate_mbit=rate)
        why = refusals(fit, judged, within)
        if len(kept) == _MOST_STACKS:
            refused[fit.series.label] = (because(ReasonKind.FULL, most=_MOST_STACKS),)
        elif why:
            refused[fit.series.label] = why
        else:
            kept.append(fit)
    return tuple(kept), refused


def surface(way: Way, rtts: Floats, sizes: Floats) -> Surface:
    """The predictions at each of these round trips (ms) with each of these sizes (bytes)."""
    layers = [_layer(way, fit, rtts, sizes) for fit in way.fits]
    latency = np.stack([layer.latency for layer in layers])
    relative = np.stack([layer.relative for layer in layers])
    standing = _standings(latency, relative, [layer.freedom for layer in layers], way.matters)
    names = layers[0].causes
    return Surface(
        way=way,
        rtts=rtts,
        sizes=sizes,
        latency=latency,
        causes={name: np.stack([layer.causes[name] for layer in layers]) for name in names},
        half=np.stack([layer.half for layer in layers]),
        relative=relative,
        standing=standing,
        codes=_codes(standing),
    )


def round_surface(way: Way) -> Surface:
    """At round numbers, so many in a decade, within twice what was measured."""
    rtts = list(_round_numbers([fit.rtt_range for fit in way.fits]))
    sizes = sorted({int(size) for size in _round_numbers([fit.size_range for fit in way.fits], least=1.0)})
    return surface(way, np.array(rtts), np.array(sizes, dtype=np.float64))


def _round_numbers(ranges: Sequence[Interval], least: float = 0.0) -> Iterator[float]:
    """Ascending round numbers from half of the least to twice the most of some ranges, both ends included."""
    low = max(least, min(low for low, _ in ranges) / BEYOND)
    high = max(high for _, high in ranges) * BEYOND
    for power in range(floor(log10(low)), ceil(log10(high)) + 1):
        for step in _STEPS:
            value = float(f"{step * 10.0**power:.6g}")
            if low * (1 - 1e-9) <= value <= high * (1 + 1e-9):
                yield value


def _layer(way: Way, fit: Fit, rtts: Floats, sizes: Floats) -> Estimate:
    """One stack; NaN beyond twice what was measured of it."""
    rtt, size = np.meshgrid(rtts, sizes, indexing="ij")
    (near, far), (small, large) = fit.rtt_range, fit.size_range
    is_within = (near / BEYOND <= rtt) & (rtt <= far * BEYOND) & (small / BEYOND <= size) & (size <= large * BEYOND)
    rate = way.rate_mbit or (fit.rate_range[0] if fit.rate_range else np.inf)
    places = Places(rtt=rtt, size=size, rate_mbit=np.array(rate))
    predicted = estimate(fit, places, way.judged)

    def kept(values: Floats) -> Floats:
        return np.where(is_within, values, np.nan)

    latency, half, relative = map(kept, (predicted.latency, predicted.half, predicted.relative))
    causes = {name: kept(value) for name, value in predicted.causes.items()}
    return replace(predicted, latency=latency, half=half, relative=relative, causes=causes)


def _standings(latency: Floats, relative: Floats, freedom: Sequence[float], matters: float) -> Grid:
    """The standing of each stack beside the fastest one at its place; NaN-latencies are absent."""
    is_there = ~np.isnan(latency)
    known = np.where(is_there, latency, np.inf)
    first = known.argmin(axis=0)
    compared = np.maximum(is_there.sum(axis=0) - 1, 1)
    quantiles = _quantiles(freedom)
    least = np.take_along_axis(known, first[None], axis=0)[0]
    spread = np.take_along_axis(np.nan_to_num(relative), first[None], axis=0)[0]
    standings = np.full(latency.shape, ABSENT, dtype=np.int64)
    with np.errstate(invalid="ignore", divide="ignore"):
        for place in range(latency.shape[0]):
            ratio = np.log(known[place] / least)
            half = quantiles[compared - 1, place, first] * np.hypot(np.nan_to_num(relative[place]), spread)
            is_tie = (ratio - half >= -np.log(1 + matters)) & (ratio + half <= np.log(1 + matters))
            judged = np.where(is_tie, TIE, np.where(ratio - half > 0, SLOWER, UNRESOLVED))
            standings[place] = np.where(first == place, FIRST, judged)
    standings[~is_there] = ABSENT
    return standings


def _quantiles(freedom: Sequence[float]) -> Floats:
    """Of Student's t by how many are compared, less one, and by the two stacks: Bonferroni's correction."""
    count = len(freedom)
    return np.array(
        [
            [[t_quantile(1 - ALPHA / compared / 2, min(first, other)) for other in freedom] for first in freedom]
            for compared in range(1, max(count, 2))
        ]
    )


def _codes(standing: Grid) -> Grid:
    bits = (1 << np.arange(standing.shape[0], dtype=np.int64))[:, None, None]
    contends = (standing >= FIRST) & (standing < SLOWER)
    mask = (contends * bits).sum(axis=0)
    is_there = standing != ABSENT
    is_even = ((standing == TIE) | (standing == FIRST) | ~is_there).all(axis=0)
    is_unsure = (contends == is_there).all(axis=0) & ~is_even
    codes: Grid = np.where(is_there.sum(axis=0) < 2, NONE, np.where(is_even, EVEN, np.where(is_unsure, UNSURE, mask)))
    return codes
