"""Two plain ways to predict a latency, which the cost model must beat: else the plainer one is used, and named. Pure.

*One round trip*: what was measured at the nearest distance, and one round trip for all that is farther. *Interpolation*:
lines between neighbours, in logarithms of distance, size and latency; beyond the last neighbour the last line goes on.
Both know only the links that were measured: they read the cells of one rate, and say nothing of another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt
from typing import Final

import numpy as np

from orchestrator.questions.prediction.predict import along
from orchestrator.questions.prediction.series_data import TINY_MS
from orchestrator.questions.prediction.shapes import INTERPOLATION, ONE_ROUND_TRIP, Judged, Method, ModelCell
from orchestrator.statistics.intervals import from_log

_BY_CHANCE = 1e-4  # the least that a rival is taken to be off

Rival = Callable[[Sequence[ModelCell], float, float], float]


def one_round_trip(cells: Sequence[ModelCell], rtt: float, size: float) -> float:
    """Latency in ms from the cells of one series, all with one request in flight."""
    nearest: dict[int, tuple[float, float]] = {}
    for cell in cells:
        here = float(np.mean(cell.rtt)), float(np.mean(cell.median))
        nearest[cell.size] = min(nearest.get(cell.size, here), here)
    sizes = sorted(nearest)
    near, median = (np.array([nearest[of][place] for of in sizes]) for place in (0, 1))
    places = np.array(sizes, dtype=np.float64), np.array(size)
    found = float(along(places[0], median, places[1])) + rtt - float(along(places[0], near, places[1]))
    return max(found, TINY_MS)  # a steep line ends below nothing


def interpolation(cells: Sequence[ModelCell], rtt: float, size: float) -> float:
    """Likewise; a size with a single distance counts as if latency did not change with it."""
    by_size: dict[int, list[tuple[float, float]]] = {}
    for cell in cells:
        by_size.setdefault(cell.size, []).append((log(np.mean(cell.rtt)), log(np.mean(cell.median))))
    sizes = sorted(by_size)
    rows = [_line(sorted(by_size[of]), log(rtt)) for of in sizes]
    return from_log(_line([(_log(of), row) for of, row in zip(sizes, rows, strict=True)], _log(size)))


def _log(size: float) -> float:
    return log(size or 0.5)  # no payload at all is less than a byte


def of_rate(cells: Sequence[ModelCell], rate_mbit: float | None) -> tuple[ModelCell, ...]:
    """The cells whose link has this rate; all of them where none has."""
    return tuple(cell for cell in cells if cell.rate_mbit == rate_mbit) or tuple(cells)


def off(judged: Judged, series: str, method: Method) -> tuple[float, float]:
    """By which share a rival is off, one standard deviation, and its degrees of freedom: by its sealed cells, or all.

    Its errors are taken to lie around zero, so that each of them counts: a percentile of two or three covers too little.
    """
    errors = [cell.errors[method] for cell in judged.cells if cell.series == series]
    errors = errors or [cell.errors[method] for cell in judged.cells]
    return max(sqrt(float(np.mean(np.square(errors)))), _BY_CHANCE), float(len(errors))


def _line(points: Sequence[tuple[float, float]], at: float) -> float:
    x, y = (np.array([point[place] for point in points]) for place in (0, 1))
    return float(along(x, y, np.array(at)))


RIVALS: Final[Mapping[Method, Rival]] = {ONE_ROUND_TRIP: one_round_trip, INTERPOLATION: interpolation}
