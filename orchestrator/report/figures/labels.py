"""Names beside the ends of lines, moved apart where they would cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from orchestrator.quantities import significant
from orchestrator.report.figures.base import plain, text_at

MARGIN_PX = 128  # right of the plot, for names
LINE_PX = 15
_LETTERS = 19  # of a line


@dataclass(frozen=True, kw_only=True)
class End:
    """The end of a line: its name, the value there as text, its colour, and how high it is, from 0 to 1."""

    name: str
    value: str
    colour: str
    share: float

    @property
    def text(self) -> str:
        """Name and value, over as many lines as there is room for; what is in brackets begins a line."""
        parts = [*self.name.replace(" (", "\n(", 1).split("\n"), *([self.value] if self.value else [])]
        return "<br>".join(plain(line) for part in parts for line in wrap(part, _LETTERS))

    @property
    def height_px(self) -> int:
        """Of its text."""
        return LINE_PX * (1 + self.text.count("<br>"))


def needed_px(ends: Sequence[End]) -> int:
    """Return how high a plot is that has room for all of them."""
    return sum(end.height_px for end in ends)


def at_ends(ends: Sequence[End], plot_px: float) -> list[dict[str, Any]]:
    """Return the names right of a plot of this height."""
    ordered = sorted(ends, key=lambda end: end.share)
    heights = [end.height_px / plot_px for end in ordered]
    top = 1 - (heights[-1] - LINE_PX / plot_px) / 2 if heights else 1.0  # of several lines, it ends below the edge
    places = apart([min(max(end.share, 0.0), top) for end in ordered], heights, top)
    right: dict[str, Any] = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "middle", "align": "left"}
    return [
        text_at(end.text, 1, significant(place, 4), end.colour, xshift=6, **right)
        for end, place in zip(ordered, places, strict=True)
    ]


def apart(places: Sequence[float], heights: Sequence[float], top: float = 1.0) -> list[float]:
    """Return ascending places from 0 to `top`, so far apart that things of these heights do not cover each other."""
    moved: list[float] = []
    for place, height in zip(places, heights, strict=True):
        least = moved[-1] + (heights[len(moved) - 1] + height) / 2 if moved else place
        moved.append(max(place, least))
    over = moved[-1] - top if moved else 0.0
    for number in range(len(moved) - 1, -1, -1):
        if over <= 0:
            break
        moved[number] -= over
        below = moved[number] - (heights[number] + heights[number - 1]) / 2 if number else 0.0
        over = moved[number - 1] - below if number else 0.0
    return moved
