"""Who is fastest in each setting of a run: tiers of cells between which there is no significant difference.

Each of several cells is compared with one reference alone. Of two of them, one is faster where their intervals do not
overlap, or where it is faster and the other slower than the reference, and then by more than what matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, Literal

from orchestrator.experiment.model.factors import STACK, said
from orchestrator.findings.block_values import best_first, value_of
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary
from orchestrator.statistics import equivalence
from orchestrator.statistics.terms import Interval, ReasonKind

Cells = Mapping[str, CellSummary]
Kind = Literal["fastest", "equal", "open", "none"]
"""`equal`: several are fastest and equal within the margin. `open`: several show no significant difference. `none`: nothing
could be compared."""

_TIMES = {"less": "faster", "more": "slower"}  # of costs


# ---- of several sides beside one reference


@dataclass(frozen=True, kw_only=True)
class Side:
    """A cell beside the reference; a ratio below 1 is better, and so is the standing `faster`."""

    cell: str
    ratio: float
    interval: Interval
    standing: str


def side_of(comparison: Comparison) -> Side | None:
    """Return the side that is compared, of times or costs, where less is better; None where nothing is decided."""
    if comparison.interval is None or comparison.standing == "cannot tell":
        return None
    standing = _TIMES.get(comparison.standing, comparison.standing)
    return Side(
        cell=comparison.cell, ratio=comparison.ratio or 1.0, interval=comparison.interval, standing=str(standing)
    )


def leaders(
    sides: Sequence[Side], reference: str | None, least: float, order: Callable[[str], Any] = lambda cell: cell
) -> tuple[str, ...]:
    """Return the cells than which none is significantly faster, the lowest ratio first.

    `least` is the logarithm of a factor by which two cells other than the reference must differ. `order` sorts equal
    ratios. Without `reference`, the others are ranked among themselves.
    """
    by_cell = _by_cell(sides, reference)

    def is_behind(side: Side, other: Side) -> bool:
        is_enough = reference in (other.cell, side.cell) or log(side.ratio / other.ratio) > least
        return is_enough and _is_ahead(other, side)

    every = by_cell.values()
    ahead = [side.cell for side in every if not any(is_behind(side, other) for other in every if other is not side)]
    return tuple(sorted(ahead, key=lambda cell: (by_cell[cell].ratio, order(cell))))


def are_alike(ahead: Sequence[str], sides: Sequence[Side], reference: str, margin: float) -> bool:
    """Whether the intervals show that these differ from the first of them by no more than the margin."""
    by_cell = _by_cell(sides, reference)
    best, *others = (by_cell[cell].interval for cell in ahead)
    return all(equivalence.is_within((best[0] / other[1], best[1] / other[0]), margin) for other in others)


def _by_cell(sides: Sequence[Side], reference: str | None) -> Mapping[str, Side]:
    by_cell = {side.cell: side for side in sides}
    if reference is not None:
        by_cell[reference] = Side(cell=reference, ratio=1.0, interval=(1.0, 1.0), standing="reference")
    return by_cell


def _is_ahead(side: Side, other: Side) -> bool:
    if other.standing == "reference":
        return side.standing == "faster"
    if side.standing == "reference":
        return other.standing == "slower"
    return side.interval[1] < other.interval[0] or (side.standing == "faster" and other.standing == "slower")


# ---- a setting


@dataclass(frozen=True, kw_only=True)
class Tier:
    """Cells with no significant difference between them; `alike`: they are equal within the margin."""

    cells: tuple[str, ...]
    alike: bool


@dataclass(frozen=True)
class Outcome:
    """Which names are fastest in a setting: one, or several that are equal or show no significant difference."""

    kind: Kind
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Ranking:
    """A setting in which several sides are compared with one reference, by the stack or by a factor.

    `setting` is what all sides have in common; `subject` is what their stacks have in common where a factor is compared.
    """

    factor: str
    setting: tuple[object, ...]
    subject: str
    reference: str  # cell
    members: tuple[Comparison, ...]
    envelope: float  # by how much the reference differs from itself, as |log ratio|
    cells: Cells
    matters: float

    @property
    def statistic(self) -> str:
        """By what they are compared: `median`, `p99` or `throughput` (`ranked_by`)."""
        return self.members[0].statistic

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The members that could be compared."""
        return tuple(side for member in self.members if (side := side_of(member)))

    @cached_property
    def undecided(self) -> tuple[Comparison, ...]:
        """The members that could not be compared; each has its reason."""
        decided = {side.cell for side in self.sides}
        return tuple(member for member in self.members if member.cell not in decided)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What a sentence calls each cell: the stack, or the value of the factor."""
        first = self.members[0]
        if self.factor == STACK:
            return {self.reference: first.reference_label} | {m.cell: m.stack_label for m in self.members}
        return {self.reference: first.reference_value} | {m.cell: m.value for m in self.members}

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The names of all that could be compared, from the fastest to the slowest."""
        return tuple(self.names[cell] for tier in self.tiers for cell in tier.cells)

    @cached_property
    def tiers(self) -> tuple[Tier, ...]:
        """From the fastest to the slowest, the reference among them; empty where nothing could be compared."""
        left, tiers = [side for side in self.sides if side.cell not in self.unranked], []
        has_reference = bool(left)
        while left or has_reference:
            ahead = self._ahead(left, has_reference)
            is_wide = self.envelope > log(1 + self.matters)
            tiers.append(Tier(cells=ahead, alike=len(ahead) > 1 and not is_wide and self._are_alike(ahead)))
            left = [side for side in left if side.cell not in ahead]
            has_reference = has_reference and self.reference not in ahead
        return tuple(tiers)

    @cached_property
    def outcome(self) -> Outcome:
        """Which names are fastest."""
        if not self.tiers:
            return Outcome("none")
        first = self.tiers[0]
        names = frozenset(self.names[cell] for cell in first.cells)
        return Outcome("fastest" if len(first.cells) == 1 else "equal" if first.alike else "open", names)

    @cached_property
    def unranked(self) -> tuple[str, ...]:
        """The cells whose interval reaches the fastest, though their ratio is above a significantly slower cell's."""
        fastest = set(self._ahead(self.sides, has_reference=bool(self.sides)))
        slower = [side.ratio for side in self.sides if side.cell not in fastest]
        if self.reference not in fastest:
            slower.append(1.0)
        wide = (side for side in self.sides if side.cell in fastest and slower and side.ratio > min(slower))
        return tuple(side.cell for side in wide)

    def _ahead(self, left: Sequence[Side], has_reference: bool) -> tuple[str, ...]:
        least = max(log(1 + self.matters), self.envelope)
        reference = self.reference if has_reference else None
        return leaders(left, reference, least, lambda cell: best_first(self.cells[cell], self.statistic))

    def _are_alike(self, ahead: Sequence[str]) -> bool:
        """Whether each of these is shown to be equal to the first; of a pair that is compared, by its own standing."""
        if len(ahead) == 2 and self.reference in ahead:
            other = next(cell for cell in ahead if cell != self.reference)
            return next(side.standing for side in self.sides if side.cell == other) == "tie"
        return are_alike(ahead, self.sides, self.reference, self.matters)

    @property
    def is_of_rates(self) -> bool:
        """Whether replies a second are compared, where more is better; all ratios are of the time that a reply takes."""
        return self.statistic == "throughput"

    def value(self, cell: str) -> float | None:
        """A cell's value of the statistic that is compared: ms, or replies a second."""
        return value_of(self.cells[cell], self.statistic)

    def measured(self, interval: Interval) -> Interval:
        """Return the interval of the values themselves: inverted for rates."""
        return (1 / interval[1], 1 / interval[0]) if self.is_of_rates else interval

    def ratio(self, cell: str) -> float:
        """A cell's time over the reference's."""
        return next((side.ratio for side in self.sides if side.cell == cell), 1.0)

    def gap(self, cell: str, other: str) -> float | None:
        """By how many ms `cell` took less than `other`, from their ratios to the reference; None of rates."""
        base = self.value(self.reference)
        return None if base is None or self.is_of_rates else base * (self.ratio(other) - self.ratio(cell))

    @property
    def lead(self) -> float | None:
        """By how many ms the first of the fastest is ahead of the first of the next tier; None with one tier."""
        first, *rest = self.tiers or (None,)
        return self.gap(first.cells[0], rest[0].cells[0]) if first and rest else None


def within(interval: Interval, matters: float) -> float:
    """Return by which share two equal sides differ at most: no more than the margin, no less than 0.1 %."""
    return max(0.001, min(matters, max(1 / interval[0], interval[1]) - 1))


# ---- all settings of a run


def rankings(summary: RunSummary) -> tuple[Ranking, ...]:
    """Return every setting that the run compares, in the order of its comparisons: the first factor comes first."""
    statistic = ranked_by(summary)
    cells = {cell.id: cell for cell in summary.cells}
    compared = [
        c for c in summary.comparisons if c.statistic == statistic and {c.cell, c.reference_cell} <= cells.keys()
    ]
    settings: dict[tuple[str, tuple[object, ...], str, str], list[Comparison]] = {}
    envelopes: dict[tuple[object, ...], float] = {}
    for c in compared:
        reference = cells[c.reference_cell]
        if not c.control:
            setting = reference.apart_from(c.factor)
            if c.factor == STACK:  # apart from stacks that make their requests in another way
                setting = (*setting, *said(cells[c.cell].factors))
            settings.setdefault((c.factor, setting, c.subject, c.reference_cell), []).append(c)
        elif c.ratio:
            setting = reference.apart_from(STACK)
            envelopes[setting] = max(envelopes.get(setting, 0.0), abs(log(c.ratio)))
    return tuple(
        Ranking(*key, tuple(members), envelopes.get(cells[key[-1]].apart_from(STACK), 0.0), cells, summary.matters)
        for key, members in settings.items()
    )


def by_factor(every: Sequence[Ranking]) -> list[tuple[Ranking, ...]]:
    """Return the settings of each factor, in the order of the comparisons, beside the first reference of each.

    A setting without that reference, as its cell is invalid, is beside its own.
    """
    questions = []
    for factor in dict.fromkeys(ranking.factor for ranking in every):
        settings = [ranking for ranking in every if ranking.factor == factor]
        first = settings[0].names[settings[0].reference]
        usual = {r.setting for r in settings if r.names[r.reference] == first}
        own: dict[tuple[object, ...], Ranking] = {}
        for ranking in settings:
            own.setdefault(ranking.setting, ranking)
        kept = [ranking for ranking in settings if ranking.names[ranking.reference] == first]
        kept += [ranking for setting, ranking in own.items() if setting not in usual]
        questions.append(tuple(sorted(kept, key=settings.index)))
    return questions


def ranked_by(summary: RunSummary) -> str:
    """Return the statistic that the result is about: the plan's; p99 where a schedule sets every median."""
    if summary.metric != "median":
        return summary.metric
    medians = [c for c in summary.comparisons if c.statistic == "median" and not c.control]
    is_set = bool(medians) and all(c.reason is not None and c.reason.kind is ReasonKind.SCHEDULE for c in medians)
    return "p99" if is_set else "median"
