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
    sides: Sequence[Side], reference: str, least: float, order: Callable[[str], Any] = lambda cell: cell
) -> tuple[str, ...]:
    """The cells that none is surely ahead of, the reference among them where it is one, lowest ratio first.

    Of two others, one is surely ahead where the intervals of their ratios lie apart, or where only one of them is surely
    ahead of the reference; and then by more than `least`, the logarithm of a factor. `order` tells equal ratios apart.
    """
    intervals, values, standings = _by_cell(sides, reference)
    best = min(values, key=lambda cell: (values[cell], order(cell)))
    far = [cell for cell in values if log(values[cell] / values[best]) > least or reference in (best, cell)]
    ahead = [c for c in values if c == best or c not in far or not _is_ahead(best, c, intervals, standings)]
    return tuple(sorted(ahead, key=lambda cell: (values[cell], order(cell))))


def are_alike(ahead: Sequence[str], sides: Sequence[Side], reference: str, margin: float) -> bool:
    """Whether the intervals show that these differ from the first of them by no more than the margin."""
    intervals, _, _ = _by_cell(sides, reference)
    best, *others = ahead
    between = [(intervals[best][0] / intervals[c][1], intervals[best][1] / intervals[c][0]) for c in others]
    return all(equivalence.is_within(interval, margin) for interval in between)


def _by_cell(
    sides: Sequence[Side], reference: str
) -> tuple[Mapping[str, Interval], Mapping[str, float], Mapping[str, str]]:
    return (
        {side.cell: side.interval for side in sides} | {reference: (1.0, 1.0)},
        {side.cell: side.ratio for side in sides} | {reference: 1.0},
        {side.cell: side.standing for side in sides} | {reference: "reference"},
    )


def _is_ahead(one: str, other: str, intervals: Mapping[str, Interval], standings: Mapping[str, str]) -> bool:
    if standings[other] == "reference":
        return standings[one] == "faster"
    if standings[one] == "reference":
        return standings[other] == "slower"
    apart = intervals[one][1] < intervals[other][0]
    return apart or (standings[one] == "faster" and standings[other] == "slower")


def any_of(items: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`: those between whom it is open."""
    return " or ".join(part for part in (", ".join(items[:-1]), *items[-1:]) if part)
