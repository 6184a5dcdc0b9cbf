"""Where a text of a decision map stands free of what is drawn there: dots, circles, letters and other texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from orchestrator.report.static.svg import width_of

Points = Sequence[tuple[float, float]]


@dataclass(kw_only=True)
class Room:
    """A map's box (left, top, right, bottom), and the boxes within it that are taken (x and y of the middle, wide, high)."""

    box: tuple[float, float, float, float]
    taken: list[tuple[float, float, float, float]] = field(default_factory=list)

    def take(self, x: float, y: float, wide: float, high: float) -> None:
        """Keep others from there."""
        self.taken.append((x, y, wide, high))

    def most(self, points: Points, wide: float, high: float) -> tuple[float, float]:
        """Of these middles the one furthest from what is taken and from the edges; it is taken from now on."""
        found = points[int(np.argmax(self._gaps(points, wide, high)))]
        self.take(*found, wide, high)
        return found

    def first(self, points: Points, wide: float, high: float) -> tuple[float, float]:
        """Of these middles the first one that touches nothing, else the freest."""
        gaps = self._gaps(points, wide, high)
        free = np.flatnonzero(gaps >= 0)
        found = points[int(free[0] if free.size else np.argmax(gaps))]
        self.take(*found, wide, high)
        return found

    def _gaps(self, points: Points, wide: float, high: float) -> npt.NDArray[np.float64]:
        """Pixels between a box at each of these middles and the nearest other box or edge; negative where they overlap."""
        x, y = np.asarray(points, dtype=np.float64).T
        left, top, right, bottom = self.box
        gaps = np.minimum.reduce([x - wide / 2 - left, right - x - wide / 2, y - high / 2 - top, bottom - y - high / 2])
        for other_x, other_y, other_wide, other_high in self.taken:
            beside = np.maximum(
                np.abs(x - other_x) - (wide + other_wide) / 2, np.abs(y - other_y) - (high + other_high) / 2
            )
            gaps = np.minimum(gaps, beside)
        return np.asarray(gaps)


def size_of(said: str, font_px: float) -> tuple[float, float]:
    """About how wide and high a text is, with a pixel of air around it."""
    return width_of(said, font_px) + 2, font_px + 2
