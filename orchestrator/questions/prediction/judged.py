"""Hold the model against the sealed cells, which no fit has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, sqrt

import numpy as np

from orchestrator.questions.prediction.predict import Places, estimate
from orchestrator.questions.prediction.shapes import LEVEL, Fit, Judged, ModelCell, SealedCell
from orchestrator.statistics.equivalence import MATTERS
from orchestrator.statistics.intervals import from_log, t_quantile

_AS_SAID = 10.0  # cells that lie off as far as intervals say count beside the sealed ones, so that chance widens little
_BY_CHANCE = 1e-4  # the least that a cell is taken to be off
_LIKE_OTHERS = 3.0  # cells of all series that count beside those of one


def judged(
    fits: Sequence[Fit], cells: Sequence[ModelCell], matters: float = MATTERS, planned: int = 0
) -> Judged | None:
    """Every sealed cell of the series that were fitted, of so many that were planned; None without any."""
    by_id = {fit.series.id: fit for fit in fits}
    sealed = [_sealed(by_id[cell.series], cell) for cell in cells if cell.is_sealed and cell.series in by_id]
    if not sealed:
        return None
    errors: dict[str, list[float]] = {}
    for each in sealed:
        errors.setdefault(each.series, []).append(abs(each.error))
    median, p90 = np.percentile([abs(each.error) for each in sealed], [50, 90])
    return Judged(
        cells=tuple(sealed),
        median=float(median),
        p90=float(p90),
        coverage=sum(cell.is_covered for cell in sealed) / len(sealed),
        by_series={name: float(np.percentile(values, 90)) for name, values in errors.items()},
        winners=_winners(by_id, cells, matters),
        not_judged=max(0, planned - len(sealed)),
        widened=_widened(by_id, sealed),
    )


def _sealed(fitted: Fit, cell: ModelCell) -> SealedCell:
    """One sealed cell; its interval is that of a cell of the same blocks, whose drift it shares."""
    rtt, measured = float(np.mean(cell.rtt)), float(np.mean(cell.median))
    predicted = estimate(fitted, Places.one(rtt, cell.size, cell.rate_mbit))
    latency = float(predicted.latency)
    half = t_quantile(0.5 + LEVEL / 2, predicted.freedom) * float(predicted.relative)
    bounds = from_log(log(latency) - half), from_log(log(latency) + half)
    return SealedCell(
        cell=cell.cell,
        series=cell.series,
        label=fitted.series.label,
        setting=fitted.series.setting,
        placement=cell.placement,
        rtt=rtt,
        size=cell.size,
        rate_mbit=cell.rate_mbit,
        measured=measured,
        predicted=latency,
        interval=bounds,
        is_covered=bounds[0] <= measured <= bounds[1],
        error=latency / measured - 1,
    )


def _widened(fits: Mapping[str, Fit], sealed: Sequence[SealedCell]) -> dict[str, float]:
    """Return by series how many standard deviations its sealed cells lie off, drawn to all series; at least 1."""
    squares: dict[str, list[float]] = {}
    for cell in sealed:
        freedom = estimate(fits[cell.series], Places.one(cell.rtt, cell.size, None)).freedom
        sd = max(log(cell.interval[1] / cell.predicted) / t_quantile(0.5 + LEVEL / 2, freedom), _BY_CHANCE)
        usual = freedom / max(freedom - 2, 1.0)  # the variance of Student's t
        squares.setdefault(cell.series, []).append((log(cell.measured / cell.predicted) / sd) ** 2 / usual)
    every = [square for values in squares.values() for square in values]
    pooled = max(1.0, (sum(every) + _AS_SAID) / (len(every) + _AS_SAID))
    return {
        name: sqrt(max(1.0, (sum(values) + _LIKE_OTHERS * pooled) / (len(values) + _LIKE_OTHERS)))
        for name, values in squares.items()
    }


def _winners(fits: Mapping[str, Fit], cells: Sequence[ModelCell], matters: float) -> tuple[int, int]:
    """Places with a sealed cell at which one stack was faster by more than matters; at how many it was the predicted one."""
    places: dict[tuple[object, ...], list[ModelCell]] = {}
    for cell in cells:
        if (fitted := fits.get(cell.series)) is not None:
            key = (fitted.series.call, fitted.series.operation, cell.placement, cell.size)
            places.setdefault(key, []).append(cell)
    outcomes = []
    for members in places.values():
        measured = sorted((float(np.mean(cell.median)), cell.series) for cell in members)
        is_sealed = any(cell.is_sealed for cell in members)
        if len(members) > 1 and is_sealed and measured[1][0] > measured[0][0] * (1 + matters):
            places_of = ((cell, Places.one(float(np.mean(cell.rtt)), cell.size, cell.rate_mbit)) for cell in members)
            predicted = min((float(estimate(fits[c.series], at).latency), c.series) for c, at in places_of)
            outcomes.append(predicted[1] == measured[0][1])
    return len(outcomes), sum(outcomes)
