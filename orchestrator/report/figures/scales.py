"""The extent of an axis, and round numbers for its ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.quantities import significant

_BEYOND = 0.04  # of the axis on both sides of its points


@dataclass(frozen=True, kw_only=True)
class Range:
    """One logarithmic dimension of a picture, which several pictures may share."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Return where a value lies between both ends, from 0 to 1."""
        return math.log(value / self.low) / math.log(self.high / self.low)


def range_of(values: Iterable[float]) -> Range:
    """Return the range from the least to the largest value, and a little beyond."""
    ordered = sorted(values)
    beyond = max((ordered[-1] / ordered[0]) ** _BEYOND, 1.05)
    return Range(low=ordered[0] / beyond, high=ordered[-1] * beyond)


def log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers within a range: even steps where it is narrow, 1-2-5 over a few decades, else powers of ten."""
    if high / low < 2.5:
        return _even_ticks(low, high)
    decades = math.log10(high / low)
    steps: tuple[float, ...] = (1,)
    if decades < 0.7:
        steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
    elif decades < 3:
        steps = (1, 2, 5)
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    values = [significant(step * 10.0**power) for power in powers for step in steps]
    return [value for value in values if low <= value <= high]


def _even_ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers at even steps; of a range without width, its one number."""
    if not low < high:
        return [significant(low)]
    wanted = (high - low) / 5
    magnitude = 10.0 ** math.floor(math.log10(wanted))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= wanted)
    return [significant(place * step) for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def tick_text(value: float) -> str:
    """Return a tick's number: grouped digits, and no more decimals than it has."""
    if abs(value) < 1:
        return f"{value:,.6f}".rstrip("0").rstrip(".")
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
