"""Who leads, where each of several is compared with one reference alone: the rule of the answer and of the scorecard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from orchestrator.analysis import equivalence
from orchestrator.analysis.summary import Comparison, Interval

_TIMES = {"less": "faster", "more": "slower"}  # of costs


@dataclass(frozen=True, kw_only=True)
class Side:
    """A cell beside the reference; a ratio below 1 is better, and so is the standing `faster`."""

    cell: str
    ratio: float
    interval: Interval
    standing: str


def side_of(comparison: Comparison) -> Side | None:
    """A comparison of times or costs, where less is better; None of one that decides nothing."""
    if comparison.interval is None or comparison.standing == "cannot tell":
        return None
    standing = _TIMES.get(comparison.standing, comparison.standing)
    return Side(
        cell=comparison.cell, ratio=comparison.ratio or 1.0, interval=comparison.interval, standing=str(standing)
    )


def leaders(
    sides: Sequence[Side], reference: str | None, least: float, order: Callable[[str], Any] = lambda cell: cell
) -> tuple[str, ...]:
    """The cells that none is surely ahead of, the reference among them where it is one, lowest ratio first.

    Of two others, one is surely ahead where the intervals of their ratios lie apart, or where only one of them is surely
    ahead of the reference; and then by more than `least`, the logarithm of a factor. `order` tells equal ratios apart.
    Without `reference`, the others are ranked among themselves.
    """
    by_cell = _by_cell(sides, reference)

    def is_behind(side: Side, other: Side) -> bool:
        is_enough = reference in (other.cell, side.cell) or log(side.ratio / other.ratio) > least
        return is_enough and _is_ahead(other, side)

    every = list(by_cell.values())
    ahead = [side.cell for side in every if not any(is_behind(side, other) for other in every if other is not side)]
    return tuple(sorted(ahead, key=lambda cell: (by_cell[cell].ratio, order(cell))))


def are_alike(ahead: Sequence[str], sides: Sequence[Side], reference: str, margin: float) -> bool:
    """Whether the intervals show that these differ from the first of them by no more than the margin."""
    by_cell = _by_cell(sides, reference)
    best, *others = (by_cell[cell].interval for cell in ahead)
    return all(equivalence.is_within((best[0] / other[1], best[1] / other[0]), margin) for other in others)


def _by_cell(sides: Sequence[Side], reference: str | None) -> Mapping[str, Side]:
    found = {side.cell: side for side in sides}
    if reference is not None:
        found[reference] = Side(cell=reference, ratio=1.0, interval=(1.0, 1.0), standing="reference")
    return found


def _is_ahead(one: Side, other: Side) -> bool:
    if other.standing == "reference":
        return one.standing == "faster"
    if one.standing == "reference":
        return other.standing == "slower"
    return one.interval[1] < other.interval[0] or (one.standing == "faster" and other.standing == "slower")


def any_of(items: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`: those between whom it is open."""
    return " or ".join(part for part in (", ".join(items[:-1]), *items[-1:]) if part)
