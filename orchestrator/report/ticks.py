"""Round numbers for the ticks of an axis, and how they are written."""

from __future__ import annotations

import math

from orchestrator.analysis.words import significant


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers within the range: even steps where it is narrow, 1-2-5 over a few decades, else powers of ten."""
    if high / low < 2.5:
        return even_ticks(low, high)
    decades = math.log10(high / low)
    steps: tuple[float, ...] = (1,)
    if decades < 0.7:
        steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
    elif decades < 3:
        steps = (1, 2, 5)
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    values = [significant(step * 10.0**power) for power in powers for step in steps]
    return [value for value in values if low <= value <= high]


def even_ticks(low: float, high: float) -> list[float]:
    """About five round numbers at even steps within the range; of a range without width, its one number."""
    if not low < high:
        return [significant(low)]
    wanted = (high - low) / 5
    magnitude = 10.0 ** math.floor(math.log10(wanted))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= wanted)
    return [significant(place * step) for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def tick_text(value: float) -> str:
    """A tick's number: grouped digits, and no more decimals than it has."""
    if abs(value) < 1:
        return f"{value:,.6f}".rstrip("0").rstrip(".")
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
