"""What a run compares, one setting at a time: who is there, who is ahead of whom, and who cannot be told apart.

The order is that of `leading`: of two that are both compared with a third alone, one is ahead where their intervals lie
apart or where only one is surely ahead of the third, and then by more than matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

from orchestrator.analysis import leading
from orchestrator.analysis.cells import by_median
from orchestrator.analysis.conclusion.shapes import Figure
from orchestrator.analysis.leading import Side
from orchestrator.analysis.summary import CellSummary, Comparison, Interval, RunSummary
from orchestrator.experiment.model.factors import STACK

Cells = Mapping[str, CellSummary]


@dataclass(frozen=True, kw_only=True)
class Tier:
    """Cells of which none is surely ahead of another, the quickest first; `alike`: they are equal within the margin."""

    cells: tuple[str, ...]
    alike: bool


@dataclass(frozen=True)
class Arena:
    """A setting in which several sides are compared with one reference, by the stack or by a factor.

    `group` is the setting in words; `subject` what all sides have in common where a factor is compared, else empty.
    """

    factor: str
    group: str
    subject: str
    reference: str  # cell
    members: tuple[Comparison, ...]
    envelope: float  # by how much the reference differs from itself, as |log ratio|
    cells: Cells
    matters: float

    @property
    def statistic(self) -> str:
        """By what they are compared: `median`, or `p99` where a schedule sets the median."""
        return self.members[0].statistic

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The members that could be compared."""
        return tuple(side for member in self.members if (side := leading.side_of(member)))

    @cached_property
    def undecided(self) -> tuple[Comparison, ...]:
        """The members that could not: too few repeats, a failed check, failed requests."""
        told = {side.cell for side in self.sides}
        return tuple(member for member in self.members if member.cell not in told)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What a sentence calls each cell: the stack, or the value of the factor."""
        first = self.members[0]
        if self.factor == STACK:
            return {self.reference: first.reference_label} | {m.cell: m.stack_label for m in self.members}
        return {self.reference: first.reference_value} | {m.cell: m.value for m in self.members}

    @cached_property
    def told(self) -> tuple[str, ...]:
        """The names of all that could be compared, from the quickest to the slowest."""
        return tuple(self.names[cell] for tier in self.tiers for cell in tier.cells)

    @cached_property
    def tiers(self) -> tuple[Tier, ...]:
        """From the quickest to the slowest, the reference among them; empty where nothing could be compared."""
        left, found = [side for side in self.sides if side.cell not in self.unranked], []
        least = max(log(1 + self.matters), self.envelope)
        has_reference = bool(left)
        while left or has_reference:
            ahead = self._ahead(left, least, has_reference)
            is_wide = self.envelope > log(1 + self.matters)
            alike = len(ahead) > 1 and not is_wide and self._are_alike(ahead)
            found.append(Tier(cells=ahead, alike=alike))
            left = [side for side in left if side.cell not in ahead]
            has_reference = has_reference and self.reference not in ahead
        return tuple(found)

    @cached_property
    def unranked(self) -> tuple[str, ...]:
        """The cells whose interval reaches the fastest, and whose ratio is above that of a stack which is surely slower."""
        least = max(log(1 + self.matters), self.envelope)
        fastest = set(self._ahead(self.sides, least, has_reference=bool(self.sides)))
        slower = [side.ratio for side in self.sides if side.cell not in fastest]
        if self.reference not in fastest:
            slower.append(1.0)
        wide = (side for side in self.sides if side.cell in fastest and slower and side.ratio > min(slower))
        return tuple(side.cell for side in wide)

    def _ahead(self, left: Sequence[Side], least: float, has_reference: bool) -> tuple[str, ...]:
        def order(cell: str) -> Any:
            return by_median(self.cells[cell])

        return leading.leaders(left, self.reference if has_reference else None, least, order)

    def _are_alike(self, ahead: Sequence[str]) -> bool:
        """Whether each of these is shown to be equal to the first; of a pair that is compared, by its own standing."""
        if len(ahead) == 2 and self.reference in ahead:
            other = next(cell for cell in ahead if cell != self.reference)
            return next(side.standing for side in self.sides if side.cell == other) == "tie"
        return leading.are_alike(ahead, self.sides, self.reference, self.matters)

    def median(self, cell: str) -> float | None:
        """Of a cell in ms, by the statistic that is compared."""
        of = self.cells[cell].distribution
        return getattr(of, self.statistic) if of else None

    def ratio(self, cell: str) -> float:
        """A cell's time over the reference's."""
        return next((side.ratio for side in self.sides if side.cell == cell), 1.0)

    def gap(self, cell: str, other: str) -> float | None:
        """By how many ms `cell` took less than `other`, from their ratios to the reference; None without its median."""
        base = self.median(self.reference)
        return None if base is None else base * (self.ratio(other) - self.ratio(cell))

    def gap_bounds(self, cell: str, other: str) -> Interval | None:
        """The interval of that, of two that are compared with each other; None of two that are not."""
        base = self.median(self.reference)
        if base is None or self.reference not in (cell, other):
            return None
        side = next((s for s in self.sides if s.cell in (cell, other)), None)
        if side is None:
            return None
        low, high = (base * (bound - 1) for bound in side.interval)
        return (low, high) if cell == self.reference else (-high, -low)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Each member beside the reference."""
        base = self.median(self.reference)
        return tuple(
            Figure(
                setting=", ".join(filter(None, (self.subject, self.group))),
                name=self.names[member.cell],
                cell=member.cell,
                median=self.median(member.cell),
                reference=self.names[self.reference],
                reference_cell=self.reference,
                reference_median=base,
                difference=None if base is None or member.ratio is None else base * (member.ratio - 1),
                interval=differences(base, member.interval),
                standing=member.standing,
            )
            for member in self.members
        )


def differences(base: float | None, interval: Interval | None) -> Interval | None:
    """The interval of a difference to the reference's figure, from that of their ratio; None without either."""
    if base is None or interval is None:
        return None
    return base * (interval[0] - 1), base * (interval[1] - 1)


def arenas(summary: RunSummary) -> tuple[Arena, ...]:
    """Every setting that the run compares, in the order of its comparisons: those of the factor asked first come first."""
    statistic = _statistic(summary.comparisons)
    cells = {cell.id: cell for cell in summary.cells}
    found: dict[tuple[str, str, str, str], list[Comparison]] = {}
    for c in summary.comparisons:
        if c.statistic == statistic and not c.control and {c.cell, c.reference_cell} <= cells.keys():
            found.setdefault((c.factor, c.group, c.subject, c.reference_cell), []).append(c)
    return tuple(
        Arena(
            factor, group, subject, reference, tuple(of), _envelope(summary, group, statistic), cells, summary.matters
        )
        for (factor, group, subject, reference), of in found.items()
    )


def questions(found: Sequence[Arena]) -> list[tuple[Arena, ...]]:
    """Those by each factor that was asked about, in the order of the comparisons, beside the first reference of each.

    A setting without that reference, as its cell is invalid, is beside its own.
    """
    asked = []
    for factor in dict.fromkeys(arena.factor for arena in found):
        arenas_ = [arena for arena in found if arena.factor == factor]
        first = arenas_[0].names[arenas_[0].reference]
        usual = {(arena.group, arena.subject) for arena in arenas_ if arena.names[arena.reference] == first}
        own: dict[tuple[str, str], Arena] = {}
        for arena in arenas_:
            own.setdefault((arena.group, arena.subject), arena)
        kept = [a for a in arenas_ if a.names[a.reference] == first]
        kept += [arena for setting, arena in own.items() if setting not in usual]
        asked.append(tuple(sorted(kept, key=arenas_.index)))
    return asked


def _statistic(comparisons: Sequence[Comparison]) -> str:
    """The median; where a schedule sets every one of them, p99."""
    by_median_ = [c for c in comparisons if c.statistic == "median" and not c.control]
    is_set = bool(by_median_) and all(c.interval is None and "schedule" in c.why for c in by_median_)
    return "p99" if is_set else "median"


def _envelope(summary: RunSummary, group: str, statistic: str) -> float:
    controls = [c for c in summary.comparisons if c.control and c.statistic == statistic and c.group == group]
    return max((abs(log(c.ratio)) for c in controls if c.ratio), default=0.0)


def within(interval: Interval, matters: float) -> float:
    """By which share two sides that tie differ at most, by their interval: no more than the margin, no less than 0.1 %."""
    return max(0.001, min(matters, max(1 / interval[0], interval[1]) - 1))
