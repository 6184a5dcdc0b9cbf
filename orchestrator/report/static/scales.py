"""From values to pixels, and the ticks of an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from orchestrator.report.static.svg import lines_of, width_of
from orchestrator.report.ticks import even_ticks, log_ticks, tick_text

_TICK_PX = 11
_APART_PX = 10.0  # between the texts of two ticks


class Scale(Protocol):
    """Where a value stands, in pixels."""

    def place(self, value: float) -> float:
        """The pixel; what lies beyond the axis stands at its end."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """An axis of numbers from `low` to `high` (logarithms of a logarithmic one), between two pixels."""

    low: float
    high: float
    start_px: float
    end_px: float
    is_log: bool

    def place(self, value: float) -> float:
        """The pixel of a value."""
        if self.is_log:
            return self.share(math.log10(value) if value > 0 else self.low)
        return self.share(value)

    def share(self, value: float) -> float:
        """The pixel of a place on the axis: of a logarithm, where it is logarithmic."""
        span = (self.high - self.low) or 1.0
        share = min(max((value - self.low) / span, 0.0), 1.0)
        return self.start_px + share * (self.end_px - self.start_px)

    @property
    def ends(self) -> tuple[float, float]:
        """Least and greatest value."""
        return (10**self.low, 10**self.high) if self.is_log else (self.low, self.high)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """An axis of rows, the first one on top; in each the label stands above a band that holds the marks."""

    tops_px: tuple[float, ...]  # of the bands
    labels_px: tuple[float, ...]  # of the labels above them
    band_px: float

    def place(self, value: float) -> float:
        """The pixel of a value: 1.2 is a little below the middle of the second row's band."""
        row = self.row(value)
        return self.tops_px[row] + self.band_px * (value - row + 0.5)

    def row(self, value: float) -> int:
        """Which row a value is in."""
        return min(max(round(value), 0), len(self.tops_px) - 1)


def line(axis: Mapping[str, Any], values: Iterable[float], start_px: float, end_px: float) -> Line:
    """The axis that a layout describes; one without a range reaches all values, and from zero where it says so."""
    is_log = axis.get("type") == "log"
    given = axis.get("range")
    if given is None:
        known = [math.log10(v) if is_log else v for v in values if not is_log or v > 0] or [0.0, 1.0]
        low, high = min(known), max(known)
        beyond = (high - low) * 0.04 or 0.5
        given = (0.0 if axis.get("rangemode") == "tozero" else low - beyond, high + beyond)
    return Line(low=float(given[0]), high=float(given[1]), start_px=start_px, end_px=end_px, is_log=is_log)


def ticks(axis: Mapping[str, Any], scale: Line, *, is_upright: bool = False) -> list[tuple[float, str]]:
    """Values and texts of ticks: the layout's own, or round numbers; of those that would touch, the first."""
    low, high = scale.ends
    if axis.get("tickvals") is not None:
        named = [(float(v), " ".join(lines_of(str(t)))) for v, t in zip(axis["tickvals"], _texts(axis), strict=True)]
    else:
        values = log_ticks(low, high) if scale.is_log else even_ticks(low, high)
        is_share = str(axis.get("tickformat", "")).endswith("%")
        named = [(v, f"{v * 100:g} %" if is_share else tick_text(v)) for v in values]
    within = [(v, t) for v, t in named if low <= v <= high or math.isclose(v, low) or math.isclose(v, high)]
    return within if is_upright else _apart(within, scale)


def _texts(axis: Mapping[str, Any]) -> Sequence[str]:
    texts = axis.get("ticktext")
    return [tick_text(float(value)) for value in axis["tickvals"]] if texts is None else texts


def _apart(named: list[tuple[float, str]], scale: Line) -> list[tuple[float, str]]:
    kept: list[tuple[float, str]] = []
    for value, said in named:
        if kept:
            between = abs(scale.place(value) - scale.place(kept[-1][0]))
            if between < (width_of(said, _TICK_PX) + width_of(kept[-1][1], _TICK_PX)) / 2 + _APART_PX:
                continue
        kept.append((value, said))
    return kept
