"""The extent of an axis, and the whiskers of intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from orchestrator.analysis.terms import Interval
from orchestrator.analysis.words import significant

_BEYOND = 0.04  # of the axis on both sides of its points


@dataclass(frozen=True, kw_only=True)
class Range:
    """One dimension of a picture, which several may share."""

    low: float
    high: float
    is_log: bool

    def share(self, value: float) -> float:
        """Where a value lies between both ends, from 0 to 1."""
        if self.is_log:
            return log(value / self.low) / log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def range_of(values: Iterable[float], *, is_log: bool, is_from_zero: bool = False) -> Range:
    """From the least to the largest, and a little beyond."""
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    if is_log:
        beyond = max((high / low) ** _BEYOND, 1.05)
        return Range(low=low / beyond, high=high * beyond, is_log=True)
    beyond = (high - low) * _BEYOND or abs(high) * _BEYOND or 1.0
    return Range(low=0.0 if is_from_zero else low - beyond, high=high + beyond, is_log=False)


def bars(points: Sequence[tuple[float, Interval | None]], per_ms: float, colour: str) -> dict[str, Any]:
    """Whiskers of unequal arms; none where there is no interval."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [significant((i[1] - value) * per_ms) if i else 0.0 for value, i in points],
        "arrayminus": [significant((value - i[0]) * per_ms) if i else 0.0 for value, i in points],
        "color": colour,
        "thickness": 1.5,
        "width": 4,
    }
