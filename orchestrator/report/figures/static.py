"""Dots as an inline SVG, which needs no script: the first chart without one, and that of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from orchestrator.report.figures.scales import log_ticks, range_of, tick_text
from orchestrator.report.palette import INK, MUTED, RULE
from orchestrator.statistics.terms import Interval

_ROW_PX, _AXIS_PX = 32, 22
_LEFT, _RIGHT = 36.0, 80.0  # between labels and values, in per cent of the width
_MOST_TICKS = 5
_SVG = Markup('<svg class="dots" role="img" aria-label="{}" width="100%" height="{}" font-size="11">{}</svg>')
_LINE = Markup('<line x1="{:.1f}%" x2="{:.1f}%" y1="{:g}" y2="{:g}" stroke="{}" stroke-width="1.5"/>')
_CIRCLE = Markup('<circle cx="{:.1f}%" cy="{:g}" r="4.5" fill="{}"/>')
_TEXT = Markup('<text x="{:.1f}%" y="{:g}" fill="{}">{}</text>')


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A row: a value with its interval and its tail, all in one unit, and the texts on both sides of them."""

    label: str
    value: float
    detail: str = ""
    interval: Interval | None = None
    tail: float | None = None
    text: str = ""
    difference: str = ""
    colour: str = MUTED

    @property
    def extent(self) -> tuple[float, ...]:
        """All values that it shows."""
        return (self.value, *(self.interval or ()), *((self.tail,) if self.tail else ()))


def chart(dots: Sequence[Dot], label: str, beside: Sequence[float] = (), floor: float | None = None) -> Markup:
    """Return the rows below one another over a logarithmic axis, with a line at the floor; values are above 0.

    The axis has room for the values `beside`, too.
    """
    values = [*(value for dot in dots for value in dot.extent), *beside, *([floor] if floor else [])]
    scale, height = range_of(values), _ROW_PX * len(dots)

    def across(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * scale.share(value)

    def parts() -> Iterator[Markup]:
        ticks = log_ticks(scale.low, scale.high)
        for value in ticks[:: -(-len(ticks) // _MOST_TICKS)]:
            yield _LINE.format(across(value), across(value), 0, height, RULE)
            yield _TEXT.format(across(value), height + _AXIS_PX - 6, MUTED, tick_text(value))
        if floor:
            yield _LINE.format(across(floor), across(floor), 0, height, MUTED)
        for number, dot in enumerate(dots):
            middle = _ROW_PX * number + _ROW_PX / 2
            if dot.interval:
                yield _LINE.format(*map(across, dot.interval), middle, middle, INK)
            if dot.tail:
                yield _LINE.format(across(dot.tail), across(dot.tail), middle - 5, middle + 5, dot.colour)
            yield _CIRCLE.format(across(dot.value), middle, dot.colour)
            for at, first, second in ((0, dot.label, dot.detail), (_RIGHT + 2, dot.text, dot.difference)):
                yield _TEXT.format(at, middle - 3, INK, first)
                yield _TEXT.format(at, middle + 11, MUTED, second)

    return _SVG.format(label, height + _AXIS_PX, Markup().join(parts()))
