"""Dots as an inline SVG, which needs no script: the first chart without one, and that of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from orchestrator.report.figures.scales import Range, log_ticks, range_of, tick_text
from orchestrator.report.palette import INK, MUTED, RULE
from orchestrator.statistics.terms import Interval

_ROW_PX, _AXIS_PX = 32, 22
_LEFT, _RIGHT = 36.0, 80.0  # between labels and values, in per cent of the width
_MOST_TICKS = 5


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A row: a value with its interval, its tail and its parts, all in one unit, and the texts on both sides of them."""

    label: str
    value: float
    detail: str = ""
    interval: Interval | None = None
    tail: float | None = None
    text: str = ""
    difference: str = ""
    colour: str = MUTED
    symbol: str = "circle"
    parts: tuple[float, ...] = ()  # what the value was found from: single searches

    @property
    def extent(self) -> tuple[float, ...]:
        """All values that it shows."""
        return (self.value, *(self.interval or ()), *((self.tail,) if self.tail else ()), *self.parts)


def chart(dots: Sequence[Dot], label: str, floor: float | None = None, beside: Sequence[float] = ()) -> Markup:
    """Return the rows below one another over a logarithmic axis, with a dotted line at the floor; values are above 0.

    The axis has room for the values `beside`, too.
    """
    scale = range_of([*(value for dot in dots for value in dot.extent), *filter(None, (floor, *beside))], is_log=True)
    height = _ROW_PX * len(dots) + _AXIS_PX
    parts = [*_axis(scale, height)]
    if floor:
        parts.append(_line(_across(scale, floor), _across(scale, floor), 0, height - _AXIS_PX, MUTED, "2 3"))
    for number, dot in enumerate(dots):
        middle = _ROW_PX * number + _ROW_PX / 2
        parts += _marks(dot, scale, middle)
        parts += [_text(0, middle - 3, dot.label, bold=True), _text(0, middle + 11, dot.detail, colour=MUTED)]
        parts += [_text(_RIGHT + 2, middle - 3, dot.text, bold=True), _text(_RIGHT + 2, middle + 11, dot.difference)]
    return _svg(parts, label, height)


def _across(scale: Range, value: float) -> float:
    return _LEFT + (_RIGHT - _LEFT) * scale.share(value)


def _axis(scale: Range, height: int) -> Iterator[Markup]:
    ticks = log_ticks(scale.low, scale.high)
    for value in ticks[:: -(-len(ticks) // _MOST_TICKS)]:
        at = _across(scale, value)
        yield _line(at, at, 0, height - _AXIS_PX, RULE)
        yield _text(at, height - 6, tick_text(value), colour=MUTED, anchor="middle")


def _marks(dot: Dot, scale: Range, middle: float) -> Iterator[Markup]:
    if dot.interval:
        low, high = (_across(scale, bound) for bound in dot.interval)
        yield _line(low, high, middle, middle, INK)
    if dot.tail:
        at = _across(scale, dot.tail)
        yield _line(at, at, middle - 5, middle + 5, dot.colour)
    circle = Markup('<circle cx="{:.1f}%" cy="{:g}" r="4.5" fill="{}"/>')
    yield circle.format(_across(scale, dot.value), middle, dot.colour)


def _line(x1: float, x2: float, y1: float, y2: float, colour: str, dashes: str = "") -> Markup:
    return Markup(
        '<line x1="{:.1f}%" x2="{:.1f}%" y1="{:g}" y2="{:g}" stroke-dasharray="{}" stroke="{}" stroke-width="1.5"/>'
    ).format(x1, x2, y1, y2, dashes, colour)


def _text(at: float, y: float, text: str, *, bold: bool = False, colour: str = INK, anchor: str = "start") -> Markup:
    weight = 650 if bold else 400
    return Markup('<text x="{:.1f}%" y="{:g}" text-anchor="{}" fill="{}" font-weight="{}">{}</text>').format(
        at, y, anchor, colour, weight, text
    )


def _svg(parts: Sequence[Markup], label: str, height: int) -> Markup:
    return Markup(
        '<svg class="dots" role="img" aria-label="{}" width="100%" height="{}" font-size="11">{}</svg>'
    ).format(label, height, Markup().join(parts))
