"""Holds the model and its rivals against the sealed cells, which no fit has seen. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log, sqrt

import numpy as np

from orchestrator import quantities
from orchestrator.questions.prediction.predict import RIVALS, Places, at, interval, of_rate
from orchestrator.questions.prediction.shapes import (
    INTERPOLATION,
    LEVEL,
    MODEL,
    MOST_MISSED,
    ONE_ROUND_TRIP,
    Fit,
    Judged,
    Method,
    ModelCell,
    Score,
    SealedCell,
)
from orchestrator.statistics.equivalence import MATTERS
from orchestrator.statistics.intervals import t_quantile

_AS_SAID = 10.0  # cells that lie off as far as intervals say count beside the sealed ones, so that chance widens little
_BY_CHANCE = 1e-4  # the least that a cell is taken to be off
_TOLD_FROM = 1.2  # times as wide
_LIKE_OTHERS = 3.0  # cells of all series that count beside those of one
_PLAINEST_FIRST: tuple[Method, ...] = (ONE_ROUND_TRIP, INTERPOLATION, MODEL)


def judged(
    fits: Sequence[Fit], cells: Sequence[ModelCell], matters: float = MATTERS, planned: int = 0
) -> Judged | None:
    """Every sealed cell of the series that were fitted, of so many that were planned; None without any."""
    of_series = {fit.series.id: fit for fit in fits}
    sealed = [_sealed(of_series[cell.series], cell) for cell in cells if cell.is_sealed and cell.series in of_series]
    if not sealed:
        return None
    scores = tuple(_score(method, sealed) for method in (MODEL, *RIVALS))
    used = min(_PLAINEST_FIRST, key=lambda method: next(s.median for s in scores if s.method == method))
    coverage = sum(cell.is_covered for cell in sealed) / len(sealed)
    by_series = {
        name: _percentile([abs(cell.errors[used]) for cell in sealed if cell.series == name], 90)
        for name in dict.fromkeys(cell.series for cell in sealed)
    }
    winners = _winners(of_series, cells, matters, used)
    widened = _widened(of_series, sealed)
    return Judged(
        cells=tuple(sealed),
        scores=scores,
        coverage=coverage,
        used=used,
        by_series=by_series,
        winners=winners,
        not_judged=max(0, planned - len(sealed)),
        widened=widened,
        said="".join(
            (
                _said(sealed, scores, used, coverage, by_series, of_series),
                _wider(widened) if used == MODEL else "",
                _won(*winners),
                _left(planned - len(sealed)),
            )
        ),
    )


def _sealed(fitted: Fit, cell: ModelCell) -> SealedCell:
    """One sealed cell; its interval is that of a cell of the same blocks, whose drift it shares."""
    rtt, measured = float(np.mean(cell.rtt)), float(np.mean(cell.median))
    found = at(fitted, Places.one(rtt, cell.size, cell.rate_mbit, cell.in_flight))
    latency = float(found.latency)
    bounds = interval(latency, float(found.sd_beside), found.freedom)
    alike = of_rate(fitted.cells, cell.rate_mbit)
    rivals = {method: rival(alike, rtt, cell.size) for method, rival in RIVALS.items()}
    return SealedCell(
        cell=cell.cell,
        series=cell.series,
        label=fitted.series.label,
        setting=fitted.series.setting,
        placement=cell.placement,
        rtt=rtt,
        size=cell.size,
        rate_mbit=cell.rate_mbit,
        in_flight=cell.in_flight,
        measured=measured,
        predicted=latency,
        interval=bounds,
        is_covered=bounds[0] <= measured <= bounds[1],
        errors={MODEL: latency / measured - 1, **{m: value / measured - 1 for m, value in rivals.items()}},
    )


def _widened(fits: Mapping[str, Fit], sealed: Sequence[SealedCell]) -> dict[str, float]:
    """By series: how many times its standard deviations its sealed cells lie off, drawn to that of all; 1 at least."""
    squares: dict[str, list[float]] = {}
    for cell in sealed:
        freedom = at(fits[cell.series], Places.one(cell.rtt, cell.size, None)).freedom
        sd = max(log(cell.interval[1] / cell.predicted) / t_quantile(0.5 + LEVEL / 2, freedom), _BY_CHANCE)
        usual = freedom / max(freedom - 2, 1.0)  # the variance of Student's t
        squares.setdefault(cell.series, []).append((log(cell.measured / cell.predicted) / sd) ** 2 / usual)
    every = [square for of in squares.values() for square in of]
    pooled = max(1.0, (sum(every) + _AS_SAID) / (len(every) + _AS_SAID))
    return {
        name: sqrt(max(1.0, (sum(of) + _LIKE_OTHERS * pooled) / (len(of) + _LIKE_OTHERS)))
        for name, of in squares.items()
    }


def _score(method: Method, sealed: Sequence[SealedCell]) -> Score:
    errors = [abs(cell.errors[method]) for cell in sealed]
    return Score(method=method, cells=len(errors), median=_percentile(errors, 50), p90=_percentile(errors, 90))


def _percentile(values: Sequence[float], percent: float) -> float:
    return float(np.percentile(values, percent))


def _winners(fits: Mapping[str, Fit], cells: Sequence[ModelCell], matters: float, used: Method) -> tuple[int, int]:
    """Places with a sealed cell at which one stack was ahead by more than matters; at how many it was the predicted one."""
    places: dict[tuple[object, ...], list[ModelCell]] = {}
    for cell in cells:
        is_predicted = used == MODEL or cell.in_flight == 1  # rivals know one request in flight alone
        if is_predicted and (fitted := fits.get(cell.series)) is not None:
            key = (fitted.series.setting, fitted.series.operation, cell.placement, cell.size, cell.in_flight)
            places.setdefault(key, []).append(cell)
    outcomes = list(_outcomes(fits, places.values(), matters, used))
    return len(outcomes), sum(outcomes)


def _outcomes(
    fits: Mapping[str, Fit], places: Iterable[Sequence[ModelCell]], matters: float, used: Method
) -> Iterator[bool]:
    for members in places:
        if len(members) < 2 or not any(cell.is_sealed for cell in members):
            continue
        measured = sorted((float(np.mean(cell.median)), cell.series) for cell in members)
        if measured[1][0] <= measured[0][0] * (1 + matters):
            continue
        yield min((_latency(fits[cell.series], cell, used), cell.series) for cell in members)[1] == measured[0][1]


def _latency(fitted: Fit, cell: ModelCell, used: Method) -> float:
    """What the method that predicts has for the cell, ms."""
    if used != MODEL:
        return RIVALS[used](of_rate(fitted.cells, cell.rate_mbit), float(np.mean(cell.rtt)), cell.size)
    place = Places.one(float(np.mean(cell.rtt)), cell.size, cell.rate_mbit, cell.in_flight)
    return float(at(fitted, place).latency)


def _won(places: int, right: int) -> str:
    if not places:
        return ""
    return (
        f" Where one stack was ahead there, it was the one predicted at {right} of {quantities.count(places, 'place')}."
    )


def _wider(widened: Mapping[str, float]) -> str:
    most = max(widened.values())
    if most < _TOLD_FROM:
        return ""
    return (
        f" Some lay farther off than their intervals said, so those of what is predicted are up to {quantities.factor(most)}"
        " times as wide."
    )


def _left(not_judged: int) -> str:
    if not_judged <= 0:
        return ""
    were = "was" if not_judged == 1 else "were"
    return f" {not_judged} more {were} sealed, and cannot be judged: invalid, not measured, or without a fit."


def _said(
    sealed: Sequence[SealedCell],
    scores: Sequence[Score],
    used: Method,
    coverage: float,
    by_series: Mapping[str, float],
    fits: Mapping[str, Fit],
) -> str:
    score = {each.method: each for each in scores}
    rivals = " and ".join(f"{method} {quantities.off(score[method].median)}" for method in RIVALS)
    off = quantities.off(score[MODEL].median)
    text = (
        f"{quantities.count(len(sealed), 'cell')} that the fit never saw: the model was off by {off} at the median and"
        f" {quantities.off(score[MODEL].p90)} at p90 (plainer ways, at the median: {rivals}), and"
        f" {quantities.percent(coverage)} lay in its 90 % intervals."
    )
    if used != MODEL:
        text += f" The model does not beat {used}, so {used} predicts."
    missed = [
        f"{fits[name].series.label}, {fits[name].series.setting}"
        for name, p90 in by_series.items()
        if p90 > MOST_MISSED
    ]
    if missed:
        text += f" Missed by more than {quantities.margin(MOST_MISSED)}, and not predicted: {'; '.join(missed)}."
    return text
