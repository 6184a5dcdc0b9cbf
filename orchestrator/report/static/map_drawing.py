"""A decision map as one SVG: round trip across, payload up, a ground for each stack that is ahead, and lines of equal gain.

Each ground has a letter and a hatching of its own beside its colour. It is drawn on a lattice of whole pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator.questions.prediction.rules import bytes_text
from orchestrator.report.static.drawing import RIM, WIDTH_PX
from orchestrator.report.static.map_room import Room, size_of
from orchestrator.report.static.svg import element, number, plain, text, width_of
from orchestrator.report.ticks import log_ticks

ACROSS, UP = 72, 48
"""Places of the lattice."""
_CELL_PX = (4, 5)
_LEFT_PX, _TOP_PX = 52, 24
_WIDE_PX, _HIGH_PX = ACROSS * _CELL_PX[0], UP * _CELL_PX[1]
_LINE_PX = 16
_LEGEND_LETTERS = 46
_LETTER_PX, _SMALL_PX = 15, 11  # no text is smaller: on a phone the map is as wide as it was drawn
_DOT_PX, _CIRCLE_PX = 3, 4.5  # radii of what was measured and of what was sealed
_ROOMY = 0.6  # of the largest square in a ground: in others of this size its letter may stand, too
_MOST_LINES = 4  # of equal gain
_LEAST_BRANCH = 8  # points of a piece of a line that has a text of its own
_LEAST_SQUARE = 3  # places to a side that a letter needs
_EVERY = 2  # place of the lattice that lines are drawn through
_INK, _MUTED, _PAPER = "var(--ink)", "var(--muted)", "var(--paper)"
_LINE: dict[str, Any] = {"stroke": _INK, "stroke_width": 0.9, "stroke_linecap": "round", "fill": "none"}
_SEALED: dict[str, Any] = {"fill": _PAPER, "stroke": _INK, "stroke_width": 1.6}
_BASE_PX = 4  # from the middle of a small text down to its base line

_Segment = tuple[tuple[int, int], tuple[int, int]]
Values = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What a code of the lattice looks like: colours of its stacks (none: it does not matter), its letters, its meaning.

    One without a meaning is not in the legend.
    """

    code: int
    colours: tuple[str, ...]
    hatching: int
    mark: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A place that was measured; `said` stands beside a sealed one."""

    rtt: float
    size: float
    is_sealed: bool = False
    said: str = ""


@dataclass(frozen=True, kw_only=True)
class MapDrawing:
    """All that a map shows. `codes` and `apart` are of round trip x size, at `lattice` of the ranges; -1 is left empty."""

    slug: str
    label: str
    said: str
    rtt_range: tuple[float, float]
    size_range: tuple[float, float]
    codes: Codes
    apart: Values
    grounds: tuple[Ground, ...]
    marks: tuple[Mark, ...]


def lattice(within: tuple[float, float], count: int) -> Values:
    """The middles of so many equal parts of a range, on the scale of logarithms."""
    low, high = np.log(within[0]), np.log(within[1])
    found: Values = np.exp(low + (np.arange(count) + 0.5) / count * (high - low))
    return found


def map_svg(of: MapDrawing) -> str:
    """The SVG, as wide as all still pictures."""
    bottom = _TOP_PX + _HIGH_PX
    legend = list(_legend(of, bottom + 42))
    height = bottom + 42 + _LINE_PX * len(legend) + 4
    ids = f"{of.slug}-title", f"{of.slug}-desc"
    room = Room(box=(_LEFT_PX, _TOP_PX, _LEFT_PX + _WIDE_PX, bottom))
    marks = list(_marks(of, room))
    letters = list(_letters(of, room))
    errors = list(_errors(of, room))
    return element(
        "svg",
        element("title", plain(of.label), id=ids[0]),
        element("desc", plain(of.said), id=ids[1]),
        element("defs", *(pattern for ground in of.grounds for pattern in _pattern(of.slug, ground))),
        element("rect", x=_LEFT_PX, y=_TOP_PX, width=_WIDE_PX, height=_HIGH_PX, fill=_PAPER, stroke="var(--rule)"),
        *_grounds(of),
        *_lines(of, room),
        *_axes(of, bottom),
        *marks,
        *errors,
        element("g", *letters, text_anchor="middle", font_size=_LETTER_PX, font_weight="700", **RIM),
        *(line for block in legend for line in block),
        class_="static",
        viewBox=f"0 0 {WIDTH_PX} {height}",
        role="img",
        aria_labelledby=" ".join(ids),
        font_family="system-ui, sans-serif",
        font_size=12,
        fill=_INK,
    )


def _pattern(slug: str, ground: Ground) -> Iterator[str]:
    """The hatching: strokes of another slope for each stack; bands of the colours of several."""
    name = f"{slug}-{_name(ground.code)}"
    if len(ground.colours) > 1:
        bands = [
            element("rect", x=place * 5, width=5, height=8, fill=colour, opacity=0.38)
            for place, colour in enumerate(ground.colours)
        ]
        size = 5 * len(bands)
        yield element("pattern", *bands, id=name, width=size, height=8, patternUnits="userSpaceOnUse")
    elif ground.colours:
        back = element("rect", width=8, height=8, fill=ground.colours[0], opacity=0.8)
        yield element(
            "pattern",
            back,
            _hatched(ground.hatching),
            id=name,
            width=8,
            height=8,
            patternUnits="userSpaceOnUse",
        )
    elif ground.hatching:
        dot = element("circle", cx=3, cy=3, r=1, fill=_MUTED)
        yield element("pattern", dot, id=name, width=6, height=6, patternUnits="userSpaceOnUse")


_SEVERAL = "Several letters: these are ahead of the others, and between them it does not matter or is not told apart."
_STROKES = ("M-2 2l4-4M0 8l8-8M6 10l4-4", "M-2 6l4 4M0 0l8 8M6-2l4 4", "M0 4h8", "M4 0v8", "M0 4h8M4 0v8", "M4 2v4")


def _hatched(number: int) -> str:
    return element("path", d=_STROKES[number % len(_STROKES)], stroke=_PAPER, stroke_width=1.2, fill="none")


def _name(code: int) -> str:
    return str(code) if code >= 0 else f"m{-code}"


def _fill(slug: str, ground: Ground) -> str:
    if ground.colours or ground.hatching:
        return f"url(#{slug}-{_name(ground.code)})"
    return "var(--control)"


def _grounds(of: MapDrawing) -> Iterator[str]:
    """For each ground one path, of the fewest upright boxes that its runs make."""
    wide, high = _CELL_PX
    for ground in of.grounds:
        parts = []
        for column, row, width, height in _boxes(of.codes == ground.code):
            x, y = _LEFT_PX + column * wide, _TOP_PX + _HIGH_PX - (row + height) * high
            parts.append(f"M{x} {y}h{width * wide}v{height * high}h-{width * wide}z")
        if parts:
            yield element("path", d="".join(parts), fill=_fill(of.slug, ground), shape_rendering="crispEdges")


def _boxes(holds: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int, int, int]]:
    """Boxes (column, row, columns, rows) that cover what holds, each place once."""
    open_: dict[tuple[int, int], int] = {}
    rows = holds.shape[1]
    for row in range(rows + 1):
        runs = set(_runs(holds[:, row])) if row < rows else set()
        for run in [run for run in open_ if run not in runs]:
            begin = open_.pop(run)
            yield run[0], begin, run[1] - run[0], row - begin
        for run in sorted(runs - open_.keys()):
            open_[run] = row


def _runs(line: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(np.int8), [0]))))
    yield from map(tuple, edges.reshape(-1, 2).tolist())


def _letters(of: MapDrawing, room: Room) -> Iterator[str]:
    """The letters of each ground, in the middle of a large square within it, free of what was measured."""
    for ground in of.grounds:
        sides = _squares(of.codes == ground.code)
        if sides.max() < _LEAST_SQUARE or not ground.mark:
            continue
        places = np.argwhere(sides >= max(_LEAST_SQUARE, _ROOMY * sides.max())).tolist()
        points = [_middle(column, row, int(sides[column, row])) for column, row in places]
        x, y = room.most(points, *size_of(ground.mark, _LETTER_PX))
        yield text(ground.mark, x, y + 5)


def _middle(column: int, row: int, side: int) -> tuple[float, float]:
    """Of a square that ends at this place of the lattice, in pixels."""
    x = _LEFT_PX + (column - side / 2 + 1) * _CELL_PX[0]
    return x, _TOP_PX + _HIGH_PX - (row - side / 2 + 1) * _CELL_PX[1]


def _squares(holds: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """For each place the side of the largest square of places that hold whose last one it is."""
    side = np.zeros(holds.shape, dtype=np.int64)
    for column, row in np.argwhere(holds).tolist():
        near = min(side[column - 1, row], side[column, row - 1], side[column - 1, row - 1]) if column and row else 0
        side[column, row] = near + 1
    return side


def _axes(of: MapDrawing, bottom: int) -> Iterator[str]:
    last, ticks, across = -math.inf, [], []
    for value in log_ticks(*of.rtt_range):
        said, x = f"{value:g}", _x(of, value)
        if x - width_of(said, 11) / 2 > last + 8:
            ticks.append(f"M{x:.0f} {bottom}v4")
            across.append(text(said, x, bottom + 15))
            last = x + width_of(said, 11) / 2
    up = []
    for value in log_ticks(*of.size_range):
        y = _y(of, value)
        ticks.append(f"M{_LEFT_PX} {y:.0f}h-4")
        up.append(text(bytes_text(value), _LEFT_PX - 6, y + 4))
    yield element("path", d="".join(ticks), stroke=_MUTED)
    yield element("g", *across, text_anchor="middle", fill=_MUTED, font_size=11)
    yield element("g", *up, text_anchor="end", fill=_MUTED, font_size=11)
    middle = _LEFT_PX + _WIDE_PX / 2
    yield text("round trip, ms →", middle, bottom + 30, anchor="middle", fill=_MUTED)
    yield text("↑ payload", 6, 14, fill=_MUTED)


def _x(of: MapDrawing, value: float) -> float:
    return _LEFT_PX + _WIDE_PX * _share(of.rtt_range, value)


def _y(of: MapDrawing, value: float) -> float:
    return _TOP_PX + _HIGH_PX * (1 - _share(of.size_range, value))


def _share(within: tuple[float, float], value: float) -> float:
    low, high = (math.log(end) for end in within)
    return min(max((math.log(value) - low) / (high - low), 0.0), 1.0)


def _marks(of: MapDrawing, room: Room) -> Iterator[str]:
    """A dot for what was measured, a circle for what was sealed."""
    points, circles = [], []
    for mark in of.marks:
        x, y = _x(of, mark.rtt), _y(of, mark.size)
        radius = _CIRCLE_PX if mark.is_sealed else _DOT_PX
        room.take(x, y, 2 * radius + 2, 2 * radius + 2)
        if mark.is_sealed:
            circles.append(element("circle", cx=x, cy=y, r=_CIRCLE_PX))
        else:
            points.append(_dot(x, y))
    if points:
        yield element("path", d="".join(points), fill=_INK, stroke=_PAPER, stroke_width=1)
    yield element("g", *circles, **_SEALED)


def _dot(x: float, y: float) -> str:
    return f"M{x - _DOT_PX:.0f} {y:.0f}a3 3 0 1 0 6 0a3 3 0 1 0-6 0z"


def _errors(of: MapDrawing, room: Room) -> Iterator[str]:
    """Beside each circle its error: below, above, to the right or to the left of it, where there is room."""
    said = []
    for mark in of.marks:
        if mark.is_sealed:
            wide, high = size_of(mark.said, _SMALL_PX)
            x, y = _x(of, mark.rtt), _y(of, mark.size)
            across, up = wide / 2 + _CIRCLE_PX + 2, high / 2 + _CIRCLE_PX + 2
            beside = [(x, y + up), (x, y - up), (x + across, y), (x - across, y)]
            at = room.first([*beside, (x + across, y + up), (x - across, y + up)], wide, high)
            said.append(text(mark.said, at[0], at[1] + _BASE_PX))
    yield element("g", *said, text_anchor="middle", font_size=_SMALL_PX, **RIM)


def _lines(of: MapDrawing, room: Room) -> Iterator[str]:
    """Lines along which the slowest takes as many ms more than the quickest, each with its ms."""
    apart = of.apart[::_EVERY, ::_EVERY]
    known = apart[~np.isnan(apart)]
    if not known.size or known.max() <= 0:
        return
    drawn, said = [], []
    for level in _levels(known):
        segments = list(_contour(apart, level))
        if not segments:
            continue
        d = "".join(f"M{a[0]} {a[1]}l{b[0] - a[0]} {b[1] - a[1]}" for a, b in segments)
        drawn.append(d)
        what = f"{level:g} ms"
        for branch in _branches(segments):
            if len(branch) >= _LEAST_BRANCH:
                x, y = room.most(branch, *size_of(what, _SMALL_PX))
                said.append(text(what, x, y + _BASE_PX))
    yield element("path", d="".join(drawn), **_LINE)
    yield element("g", *said, text_anchor="middle", font_size=_SMALL_PX, **RIM)


def _branches(segments: list[_Segment]) -> list[list[tuple[int, int]]]:
    """The points of each connected piece of a line."""
    beside: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for one, other in segments:
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    found = []
    while beside:
        branch, waiting = [], [next(iter(beside))]
        while waiting:
            point = waiting.pop()
            if point in beside:
                branch.append(point)
                waiting += beside.pop(point)
        found.append(branch)
    return found


def _levels(known: Values) -> list[float]:
    """Round numbers, a few, each at least half as large again as the one before."""
    low, high = (float(np.percentile(known, share)) for share in (8, 97))
    levels: list[float] = []
    for value in log_ticks(max(low, high / 1e4, 1e-4), max(high, 2e-4)):
        if not levels or value >= 1.5 * levels[-1]:
            levels.append(value)
    if len(levels) <= _MOST_LINES:
        return levels
    places = np.linspace(0, len(levels) - 1, _MOST_LINES).round().astype(int)
    return [levels[place] for place in places.tolist()]


def _contour(values: Values, level: float) -> Iterator[_Segment]:
    """Straight pieces of the line at a level, in pixels: of each triangle that it crosses, one."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(values, level / 1e3) / level)
    columns, rows = logs.shape
    for column in range(columns - 1):
        for row in range(rows - 1):
            corners = [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)]
            at = [float(logs[corner]) for corner in corners]
            if any(math.isnan(value) for value in at) or min(at) >= 0 or max(at) < 0:
                continue
            crossed = [
                _between(corners[n], corners[(n + 1) % 4], at[n], at[(n + 1) % 4])
                for n in range(4)
                if (at[n] < 0) != (at[(n + 1) % 4] < 0)
            ]
            yield from ((one, other) for one, other in zip(crossed[::2], crossed[1::2], strict=True) if one != other)


def _between(one: tuple[int, int], other: tuple[int, int], low: float, high: float) -> tuple[int, int]:
    share = low / (low - high)
    column, row = (a + share * (b - a) for a, b in zip(one, other, strict=True))
    x = _LEFT_PX + (column * _EVERY + 0.5) * _CELL_PX[0]
    y = _TOP_PX + _HIGH_PX - (row * _EVERY + 0.5) * _CELL_PX[1]
    return round(x), round(y)


def _signs(of: MapDrawing, top: float) -> Iterator[list[str]]:
    """What dots, circles and lines mean, a line of text each, where there are any."""
    dot = element("path", d=_dot(17, 0), fill=_INK)
    circle = element("circle", cx=17, cy=0, r=_CIRCLE_PX, **_SEALED)
    line = element("path", d="M6 0h22", **_LINE)
    found = (
        (any(not mark.is_sealed for mark in of.marks), dot, "measured"),
        (any(mark.is_sealed for mark in of.marks), circle, "kept from the fit; beside it the largest error"),
        (bool(np.any(of.apart > 0)), line, "the slowest takes this much longer"),
    )
    shown = [(drawn, said) for is_there, drawn, said in found if is_there]
    for place, (drawn, said) in enumerate(shown):
        y = top + place * _LINE_PX
        yield [element("g", drawn, transform=f"translate(0 {number(y + 7)})"), text(said, 56, y + 11)]


def _legend(of: MapDrawing, top: float) -> Iterator[list[str]]:
    """A line of text after another: each ground with its swatch, where it lies on the map alone, then dots and lines."""
    at = top
    for ground in of.grounds:
        if not ground.meaning:
            continue
        for place, words in enumerate(wrap(ground.meaning, _LEGEND_LETTERS)):
            drawn = [text(words, 56, at + 11)]
            if not place:
                fill = _fill(of.slug, ground)
                drawn.append(element("rect", x=6, y=at + 1, width=22, height=12, fill=fill, stroke=_MUTED))
                drawn.append(text(ground.mark, 35, at + 11, font_weight="700"))
            yield drawn
            at += _LINE_PX
    for line in _signs(of, at):
        yield line
        at += _LINE_PX
    for words in wrap(_SEVERAL, _LEGEND_LETTERS + 8) if any(len(each.mark) > 1 for each in of.grounds) else ():
        yield [text(words, 6, at + 11, fill=_MUTED)]
        at += _LINE_PX
