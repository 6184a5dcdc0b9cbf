"""Which stack is best by each criterion, in each setting, as far as the comparisons of the run decide it.

Each stack is compared with the reference, block by block, corrected over the run, as in the answer (`ranking`). A criterion
that the run did not measure has no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import log
from operator import attrgetter
from typing import Final, Literal

from orchestrator.catalogue.read import catalogue
from orchestrator.experiment.model.factors import STACK
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings import compare, ranking
from orchestrator.findings.block_values import by_block
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary
from orchestrator.findings.validity import invalid_cells, withhold
from orchestrator.questions.base import Basis, Question
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.capacity.find import Capacity, FoundRate, RateComparison, Side
from orchestrator.questions.scorecard.properties import Properties, properties
from orchestrator.statistics import intervals
from orchestrator.statistics.terms import Interval

Lead = Literal["best", "alike", "not resolved", "not compared"]
"""Who leads: the best alone, several that differ by less than matters, or nobody."""

SPREAD: Final = "p99_to_p50"  # by which the most predictable stack is known
CAPACITY_ROW: Final = "capacity"
_HIGHER_RATE = {"more": "faster", "less": "slower"}  # a higher rate is a smaller time


@dataclass(frozen=True, kw_only=True)
class Score:
    """A stack by a criterion, with its 95 % interval: ms, bytes or CPU seconds per 1,000 samples, or requests a second.

    `value` is None where it is not known; `bound` is that of a rate. `failed`: checks that make the cell invalid.
    """

    stack: str  # label
    cell: str
    value: float | None
    interval: Interval | None
    bound: Side = ""
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ScoreRow:
    """One criterion (`name`) over all stacks of a setting; `leaders` are cells: who is best, or may be.

    `left_out`: cells that could not be compared.
    """

    name: str
    scores: tuple[Score, ...]
    lead: Lead
    leaders: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def is_resolved(self) -> bool:
        """Whether the leaders are the best, alone or alike."""
        return self.lead in ("best", "alike")


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """The criteria of the stacks that were compared in one setting; `goals` where rates were searched for."""

    setting: str
    goals: str = ""
    rows: tuple[ScoreRow, ...]


@dataclass(frozen=True, kw_only=True)
class Scorecard:
    """What was measured, setting by setting, and what stacks are like whatever was requested."""

    settings: tuple[ScoreTable, ...]
    properties: Properties


@dataclass(frozen=True, kw_only=True)
class _Setting:
    """Cells that were compared with one reference by the stack; `reference` is empty where they were not compared."""

    title: str
    cells: tuple[CellSummary, ...]
    reference: str = ""


def scorecard(plan: Plan, summary: RunSummary) -> Scorecard:
    """Return the scorecard of a run; `plan` has the cells that the summary has."""
    capacity = CAPACITY.of(summary)
    if capacity.rates:
        settings = tuple(_of_rates(capacity))
    else:
        invalid = invalid_cells(summary.cells, summary.checks)
        spreads = withhold(compare.compare_by((SPREAD,), plan, summary.cells, contrasts.pairs(plan), invalid), invalid)
        compared = [c for c in (*summary.comparisons, *spreads, *summary.costs) if c.factor == STACK]
        settings = tuple(
            ScoreTable(
                setting=setting.title,
                rows=tuple(
                    row
                    for name in CRITERIA
                    if (row := _row(name, setting, compared, invalid, plan.matters)) is not None
                ),
            )
            for setting in _settings(plan, summary)
        )
    return Scorecard(settings=settings, properties=properties(plan, summary.cells, catalogue()))


def _settings(plan: Plan, summary: RunSummary) -> Iterator[_Setting]:
    """Compared cells by their group, each with its first reference; then others, by what they have in common."""
    by_id = {cell.id: cell for cell in summary.cells}
    controls = {stack.id for stack in plan.stacks if stack.control_of}
    groups: dict[str, tuple[str, dict[str, None]]] = {}
    for c in summary.comparisons:
        if c.factor == STACK and not c.control and c.statistic == "median":
            reference, members = groups.setdefault(c.group, (c.reference_cell, {c.reference_cell: None}))
            if c.reference_cell == reference:
                members[c.cell] = None
    for title, (reference, members) in groups.items():
        yield _Setting(title=title, cells=tuple(by_id[cell] for cell in members), reference=reference)
    compared = {cell for _, members in groups.values() for cell in members}
    rest: dict[str, list[CellSummary]] = {}
    for cell in summary.cells:
        if cell.id not in compared and cell.stack not in controls:
            rest.setdefault(cell.setting, []).append(cell)
    for title, cells in rest.items():
        yield _Setting(title=title, cells=tuple(cells))


# ---- one criterion


def _latency(cell: CellSummary) -> tuple[float | None, Interval | None]:
    return (cell.distribution.median, cell.median_interval) if cell.distribution else (None, None)


def _predictable(cell: CellSummary) -> tuple[float | None, Interval | None]:
    """Nothing of a mix: its p99 over its median is how far its operations lie apart."""
    if cell.distribution is None or cell.mixed:
        return None, None
    return cell.distribution.p99_to_p50, _geometric(cell, SPREAD)[1]


def _geometric(cell: CellSummary, statistic: str) -> tuple[float | None, Interval | None]:
    values = list(by_block(cell.trials, statistic).values())
    if not values:
        return None, None
    mean = intervals.of_trials(values)
    return mean.ratio, mean.interval()


def _cost(cell: CellSummary, name: str) -> tuple[float | None, Interval | None]:
    return (cell.costs[name].value, cell.costs[name].interval) if name in cell.costs else (None, None)


@dataclass(frozen=True, kw_only=True)
class _Criterion:
    statistic: str
    read: Callable[[CellSummary], tuple[float | None, Interval | None]]


CRITERIA: Mapping[str, _Criterion] = {
    "latency": _Criterion(statistic="median", read=_latency),
    "predictable": _Criterion(statistic=SPREAD, read=_predictable),
    "wire": _Criterion(statistic="wire_bytes", read=lambda cell: _geometric(cell, "wire_bytes")),
    "responder_cpu": _Criterion(statistic="responder_cpu", read=lambda cell: _cost(cell, "responder_cpu")),
    "requester_cpu": _Criterion(statistic="requester_cpu", read=lambda cell: _cost(cell, "requester_cpu")),
}
"""By what every setting is judged that was measured at loads that the plan names."""


def _row(
    name: str,
    setting: _Setting,
    compared: Sequence[Comparison],
    invalid: Mapping[str, Sequence[str]],
    margin: float,
) -> ScoreRow | None:
    """The row of a criterion; None where no cell has a value."""
    criterion = CRITERIA[name]
    scores = []
    for cell in setting.cells:
        value, interval = criterion.read(cell)
        failed = tuple(invalid.get(cell.id, ()))
        scores.append(Score(stack=cell.stack_label, cell=cell.id, value=value, interval=interval, failed=failed))
    if all(score.value is None for score in scores):
        return None
    values = {score.cell: score.value or 0.0 for score in scores}
    here = [c for c in compared if c.statistic == criterion.statistic and c.reference_cell == setting.reference]
    row = ScoreRow(name=name, scores=tuple(scores), lead="not compared")
    return _led(
        row,
        {c.cell: ranking.side_of(c) for c in here if not c.control and c.cell in values},
        reference=setting.reference,
        envelope=_envelope(c.ratio for c in here if c.control and c.group == setting.title),
        margin=margin,
        order=values.__getitem__,
    )


def _envelope(ratios: Iterator[float | None]) -> float:
    """How far a reference differs from itself, as an absolute log ratio."""
    return max((abs(log(ratio)) for ratio in ratios if ratio), default=0.0)


def _led(
    row: ScoreRow,
    sides: Mapping[str, ranking.Side | None],
    *,
    reference: str,
    envelope: float,
    margin: float,
    order: Callable[[str], float] | None = None,
) -> ScoreRow:
    """The row with who leads; a side is None where the cell could not be compared with the reference."""
    known = [side for side in sides.values() if side is not None]
    left_out = tuple(cell for cell, side in sides.items() if side is None)
    if not known:
        return replace(row, lead="not resolved" if sides else "not compared", left_out=left_out)
    least = max(log(1 + margin), envelope)
    leaders = ranking.leaders(known, reference, least, order) if order else ranking.leaders(known, reference, least)
    lead: Lead = "not resolved"
    if len(leaders) == 1:
        lead = "best"
    elif envelope <= log(1 + margin) and ranking.are_alike(leaders, known, reference, margin):
        lead = "alike"
    return replace(row, lead=lead, leaders=tuple(leaders), left_out=left_out)


# ---- capacity


def _of_rates(capacity: Capacity) -> Iterator[ScoreTable]:
    """A table of capacity alone for each setting and its goals; controls are left out."""
    for (setting, goals), members in groupby(capacity.rates, key=attrgetter("setting", "goals")):
        rates = [rate for rate in members if not rate.is_control]
        cells = {rate.cell for rate in rates}
        here = [c for c in capacity.comparisons if c.reference_cell in cells and (c.cell in cells or c.is_control)]
        sides = {c.cell: _side(c) for c in here if not c.is_control}
        row = ScoreRow(name=CAPACITY_ROW, scores=tuple(map(_rate, rates)), lead="not compared")
        if None in sides.values():  # a rate known from one side alone may be any
            row = replace(
                row, lead="not resolved", left_out=tuple(cell for cell, side in sides.items() if side is None)
            )
        elif sides:
            envelope = _envelope(c.ratio for c in here if c.is_control)
            reference = next(c.reference_cell for c in here if not c.is_control)
            row = _led(row, sides, reference=reference, envelope=envelope, margin=capacity.margin)
        yield ScoreTable(setting=setting, goals=goals, rows=(row,))


def _side(comparison: RateComparison) -> ranking.Side | None:
    if comparison.interval is None or comparison.ratio is None or comparison.standing == "cannot tell":
        return None
    low, high = comparison.interval
    return ranking.Side(
        cell=comparison.cell,
        ratio=1 / comparison.ratio,
        interval=(1 / high, 1 / low),
        standing=_HIGHER_RATE.get(comparison.standing, comparison.standing),
    )


def _rate(rate: FoundRate) -> Score:
    return Score(
        stack=rate.stack_label,
        cell=rate.cell,
        value=rate.rate_per_s,
        interval=rate.interval,
        bound=rate.side,
        failed=rate.invalid,
    )


def _find(basis: Basis) -> Scorecard:
    return scorecard(basis.searched or basis.plan, basis.summary)


QUESTION: Question[Scorecard | None] = Question(name="scorecard", type=Scorecard, empty=None, find=_find)
