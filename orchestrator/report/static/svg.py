"""SVG as text: elements with escaped texts and short numbers. Nothing here knows what is drawn."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable, Sequence

_BREAK = re.compile(r"<br\s*/?>")
_TAG = re.compile(r"</?b>")
_APART_PX = 1.5
LETTER_PX = 6.3  # of the page's font at 12 px, on average


def number(value: float) -> str:
    """A tenth of a pixel is as fine as a screen is."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _tenths(value: int) -> str:
    """A whole number of tenths, as short as it can be: no zero before the point."""
    whole, tenth = divmod(abs(value), 10)
    return ("-" if value < 0 else "") + (f"{whole or ''}.{tenth}" if tenth else str(whole))


def element(tag: str, *content: str, **attributes: str | float | None) -> str:
    """An element; `stroke_width` becomes `stroke-width`, what is None is left out, and every value is escaped.

    `content` is SVG, not text: `text` and `plain` escape.
    """
    said = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{said}>{''.join(content)}</{tag}>" if content else f"<{tag}{said}/>"


def plain(text: str) -> str:
    """Text as content of an element."""
    return html.escape(text, quote=False)


def text(said: str, x: float, y: float, *, anchor: str = "start", **attributes: str | float | None) -> str:
    """A line of text; `y` is its base line."""
    placed = None if anchor == "start" else anchor
    return element("text", plain(said), x=x, y=y, text_anchor=placed, **attributes)


def lines_of(label: str) -> list[str]:
    """The lines of a label that was written for Plotly: its breaks apart, its tags gone, its entities as letters."""
    return [html.unescape(_TAG.sub("", line)) for line in _BREAK.split(label)]


def path(points: Iterable[tuple[float, float]], *, is_stepped: bool = False, is_closed: bool = False) -> str:
    """The data of a path; of points that fall nearly on one another the first and the last are kept.

    Each point is written as the step from the one before, in whole tenths, so that no rounding adds up.
    """
    kept = [(round(x * 10), round(y * 10)) for x, y in _thinned(list(points))]
    if not kept:
        return ""
    parts = [f"M{_tenths(kept[0][0])} {_tenths(kept[0][1])}"]
    for (x_before, y_before), (x, y) in itertools.pairwise(kept):
        across, down = x - x_before, y - y_before
        if is_stepped or not across or not down:
            parts.append((f"h{_tenths(across)}" if across else "") + (f"v{_tenths(down)}" if down else ""))
        else:
            parts.append(f"l{_tenths(across)}{'' if down < 0 else ' '}{_tenths(down)}")
    return "".join(parts) + ("Z" if is_closed else "")


def pieces(xs: Sequence[float | None], ys: Sequence[float | None]) -> list[list[tuple[float, float]]]:
    """Points, apart where one has no value."""
    found: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(xs, ys, strict=True):
        if x is None or y is None:
            found.append([])
        else:
            found[-1].append((float(x), float(y)))
    return [piece for piece in found if piece]


def width_of(said: str, size_px: float = 12) -> float:
    """About how wide a text is."""
    return len(said) * LETTER_PX * size_px / 12


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    kept: list[tuple[float, float]] = []
    for point in points:
        if not kept or abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) >= _APART_PX:
            kept.append(point)
    if kept and kept[-1] != points[-1]:
        kept.append(points[-1])
    return kept


def _value(value: str | float) -> str:
    return html.escape(value) if isinstance(value, str) else number(value)
