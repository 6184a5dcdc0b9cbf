"""The scorecard: who is best by each criterion, in each setting, as far as the run's own comparisons tell it.

The answer's rule decides (`ranking`): each stack is compared with the reference, block by block, corrected over the run. A
criterion without a sure leader says so, and one that the run did not measure names the experiment that does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import log
from operator import attrgetter
from typing import Final

from orchestrator import quantities
from orchestrator.catalogue.offers import Catalogue
from orchestrator.catalogue.read import catalogue
from orchestrator.experiment.model.factors import STACK
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.read.units import format_rate
from orchestrator.findings import compare, ranking
from orchestrator.findings.blocks import by_block
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary
from orchestrator.findings.validity import invalid_cells, withhold
from orchestrator.questions.base import Basis, Question
from orchestrator.questions.capacity import words as rate_words
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.capacity.find import Capacity, FoundRate, RateComparison
from orchestrator.questions.scorecard.card import Evidence, Score, Scorecard, ScoreRow, ScoreTable
from orchestrator.questions.scorecard.properties import properties
from orchestrator.questions.streams.words import DROPPED
from orchestrator.statistics import intervals
from orchestrator.statistics.terms import Interval

SIX = "experiments/six_protocols.yaml"
SEARCH = "experiments/capacity.yaml"
_CAPACITY, _HIGHEST = "capacity", "Highest capacity"
_MOST_LESS = {"more": "faster", "less": "slower"}  # a higher rate is a smaller time
SPREAD: Final = "p99_to_p50"  # what the most predictable stack is known by
_OF_A_MIX = "its p99 over its median is how far its operations lie apart"


@dataclass(frozen=True, kw_only=True)
class _Criterion:
    """What is judged: a statistic of trials, and which part of the report has it."""

    name: str
    title: str
    unit: str
    statistic: str
    evidence: Evidence
    text: Callable[[float], str]
    value: Callable[[CellSummary], float | None]
    interval: Callable[[CellSummary], Interval | None]
    why_none: str


@dataclass(frozen=True, kw_only=True)
class _Setting:
    """Cells that were compared with one reference by the stack; `reference` is empty where they were not compared."""

    title: str
    cells: tuple[CellSummary, ...]
    reference: str = ""


def scorecard(plan: Plan, summary: RunSummary, catalogue: Catalogue) -> Scorecard:
    """The card of a summary that has all but that; `plan` with the cells that the summary has."""
    table, lines = properties(plan, summary.cells, catalogue)
    capacity = CAPACITY.of(summary)
    if capacity.rates:
        rates = _of_rates(capacity)
        unmeasured = {c.name: (c.title, c.unit) for c in CRITERIA}
        settings = tuple(replace(of, rows=(*_none_measured(of.stacks, unmeasured), *of.rows)) for of in rates)
        return Scorecard(settings=settings, properties=table, lines=lines)
    invalid = invalid_cells(summary.cells, summary.checks)
    spreads = withhold(compare.compare_by((SPREAD,), plan, summary.cells, contrasts.pairs(plan), invalid), invalid)
    compared = [c for c in (*summary.comparisons, *spreads, *summary.costs) if c.factor == STACK]
    return Scorecard(
        settings=tuple(
            ScoreTable(
                setting=setting.title,
                stacks=tuple(cell.stack_label for cell in setting.cells),
                rows=(
                    *(_row(criterion, setting, compared, invalid, plan.matters) for criterion in CRITERIA),
                    _not_searched([cell.stack_label for cell in setting.cells]),
                ),
            )
            for setting in _settings(plan, summary)
        ),
        properties=table,
        lines=lines,
    )


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
    seen = {cell for _, members in groups.values() for cell in members}
    rest: dict[str, list[CellSummary]] = {}
    for cell in summary.cells:
        if cell.id not in seen and cell.stack not in controls:
            rest.setdefault(cell.setting, []).append(cell)
    for title, cells in rest.items():
        yield _Setting(title=title, cells=tuple(cells))


# ---- one criterion


def _row(
    criterion: _Criterion,
    setting: _Setting,
    compared: Sequence[Comparison],
    invalid: Mapping[str, Sequence[str]],
    margin: float,
) -> ScoreRow:
    scores = [_score(criterion, cell, invalid.get(cell.id, ())) for cell in setting.cells]
    of = [c for c in compared if c.statistic == criterion.statistic and c.reference_cell == setting.reference]
    if all(score.basis == "not measured" for score in scores):
        best, ahead = _not_measured(criterion, setting), frozenset[str]()
    elif not setting.reference:
        best, ahead = _uncompared(setting), frozenset[str]()
    else:
        best, ahead = _leaders(setting, scores, of, margin)
    return ScoreRow(
        name=criterion.name,
        title=criterion.title,
        unit=criterion.unit,
        best=best,
        is_resolved=bool(ahead),
        scores=tuple(replace(score, is_best=score.cell in ahead) for score in scores),
    )


def _not_measured(criterion: _Criterion, setting: _Setting) -> str:
    if criterion.statistic == SPREAD and any(cell.mixed for cell in setting.cells):
        return f"not asked of a mix: {_OF_A_MIX}"
    return f"not measured here; {SIX} measures it"


def _uncompared(setting: _Setting) -> str:
    return "one stack alone" if len(setting.cells) == 1 else "stacks were not compared in this run"


def _score(criterion: _Criterion, cell: CellSummary, failed: Sequence[str]) -> Score:
    value = criterion.value(cell)
    if value is None:
        return Score(
            stack=cell.stack_label,
            text=_beyond(criterion, cell) or "not measured",
            basis="measured" if _beyond(criterion, cell) else "not measured",
            evidence=criterion.evidence if _beyond(criterion, cell) else "",
            cell=cell.id,
            why=_why_none(criterion, cell),
        )
    interval = criterion.interval(cell)
    return Score(
        stack=cell.stack_label,
        text=criterion.text(value),
        basis="measured",
        evidence=criterion.evidence,
        cell=cell.id,
        value=value,
        interval=interval,
        interval_text="" if interval is None else " to ".join(criterion.text(bound) for bound in interval),
        why=f"invalid: {', '.join(failed)} failed" if failed else "",
    )


def _beyond(criterion: _Criterion, cell: CellSummary) -> str:
    """What is known of a latency that falls among requests without a right reply; empty of anything else."""
    of = cell.distribution
    if criterion.statistic != "median" or of is None or "median" not in of.censored:
        return ""
    return DROPPED if cell.kind == "stream" else "no reply" if of.limit is None else f"> {quantities.ms(of.limit)}"


def _why_none(criterion: _Criterion, cell: CellSummary) -> str:
    if cell.distribution is None:
        return "no trial gave a sample"
    if criterion.statistic == "median":
        return quantities.no_reply(cell.failed, cell.requests, cell.kind)
    if criterion.statistic == SPREAD and cell.mixed:
        return _OF_A_MIX
    if criterion.statistic == SPREAD:
        return (
            "p99 falls among requests without a right reply"
            if "p99" in cell.distribution.censored
            else ("too few requests for a p99")
        )
    return "a codec alone has no network" if cell.kind == "codec" else criterion.why_none


def _leaders(
    setting: _Setting, scores: Sequence[Score], compared: Sequence[Comparison], margin: float
) -> tuple[str, frozenset[str]]:
    """Who leads, in words, and the ids of their cells; none where it is not resolved."""
    labels = {score.cell: score.stack for score in scores}
    asked = [c for c in compared if not c.control and c.cell in labels]
    controls = [abs(log(c.ratio)) for c in compared if c.control and c.ratio and c.group == setting.title]
    envelope = max(controls, default=0.0)
    sides = [side for c in asked if (side := ranking.side_of(c)) is not None]
    if not sides:
        return "not resolved" if asked else "not resolved: nothing was compared", frozenset()
    order = {score.cell: score.value or 0.0 for score in scores}
    ahead = ranking.leaders(sides, setting.reference, max(log(1 + margin), envelope), lambda cell: order[cell])
    left = [labels[c.cell] for c in asked if ranking.side_of(c) is None]
    among = f", of those that could be compared (not {quantities.listed(left)})" if left else ""
    named = quantities.listed([labels[cell] for cell in ahead])
    if len(ahead) == 1:
        return f"{named}{among}", frozenset(ahead)
    if envelope <= log(1 + margin) and ranking.are_alike(ahead, sides, setting.reference, margin):
        return f"{named}: less than {quantities.margin(margin)} apart{among}", frozenset(ahead)
    return f"not resolved: {quantities.any_of([labels[cell] for cell in ahead])}{among}", frozenset()


def _none_measured(stacks: Sequence[str], criteria: Mapping[str, tuple[str, str]]) -> Iterator[ScoreRow]:
    """The rows of a run that searched for rates: every latency in it is one at a rate of its own."""
    why = "each rate that was tried has its own"
    for name, (title, unit) in criteria.items():
        yield ScoreRow(
            name=name,
            title=title,
            unit=unit,
            best=f"not measured here; {SIX} measures it",
            is_resolved=False,
            scores=tuple(Score(stack=stack, text="not measured", basis="not measured", why=why) for stack in stacks),
        )


# ---- what is judged


def _geometric(cell: CellSummary, statistic: str) -> tuple[float | None, Interval | None]:
    values = list(by_block(cell.trials, statistic).values())
    if not values:
        return None, None
    of = intervals.of_trials(values)
    return of.ratio, of.interval()


def _of_cost(name: str, title: str) -> _Criterion:
    return _Criterion(
        name=name,
        title=title,
        unit="CPU time per 1,000 samples",
        statistic=name,
        evidence="cost",
        text=lambda value: quantities.cost(name, value),
        value=lambda cell: cell.costs[name].value if name in cell.costs else None,
        interval=lambda cell: cell.costs[name].interval if name in cell.costs else None,
        why_none="CPU time was not counted",
    )


CRITERIA = (
    _Criterion(
        name="latency",
        title="Lowest latency",
        unit="median",
        statistic="median",
        evidence="cell",
        text=quantities.ms,
        value=lambda cell: cell.distribution.median if cell.distribution else None,
        interval=lambda cell: cell.median_interval,
        why_none="",
    ),
    _Criterion(
        name="predictable",
        title="Most predictable",
        unit="p99 over the median",
        statistic=SPREAD,
        evidence="cell",
        text=quantities.ratio,
        value=lambda cell: cell.distribution.p99_to_p50 if cell.distribution and not cell.mixed else None,
        interval=lambda cell: _geometric(cell, SPREAD)[1],
        why_none="",
    ),
    _Criterion(
        name="wire",
        title="Smallest on the wire",
        unit="bytes of TCP both ways, per 1,000 samples",
        statistic="wire_bytes",
        evidence="cost",
        text=lambda value: quantities.cost("wire_bytes", value),
        value=lambda cell: _geometric(cell, "wire_bytes")[0],
        interval=lambda cell: _geometric(cell, "wire_bytes")[1],
        why_none="the kernel's counters were not read",
    ),
    _of_cost("responder_cpu", "Cheapest in CPU, responder"),
    _of_cost("requester_cpu", "Cheapest in CPU, requester"),
)
"""What every setting of a run is judged by, besides its capacity."""


# ---- capacity


def _not_searched(stacks: Sequence[str]) -> ScoreRow:
    """Return the row of capacity where no rate was searched for."""
    scores = tuple(Score(stack=stack, text="not measured", basis="not measured") for stack in stacks)
    best = f"not measured here; {SEARCH} searches for it"
    return ScoreRow(name=_CAPACITY, title=_HIGHEST, unit="per second", best=best, is_resolved=False, scores=scores)


def _of_rates(capacity: Capacity) -> tuple[ScoreTable, ...]:
    """A table of capacity alone for each setting and its goals; controls are left out."""
    key = attrgetter("setting", "goals")
    return tuple(
        _of_rates_in(setting, goals, [found for found in of if not found.is_control], capacity)
        for (setting, goals), of in groupby(capacity.rates, key=key)
    )


def _of_rates_in(setting: str, goals: str, found: Sequence[FoundRate], capacity: Capacity) -> ScoreTable:
    ids, compared, margin = {one.cell for one in found}, capacity.comparisons, capacity.margin
    here = [c for c in compared if c.cell in ids and c.reference_cell in ids and not c.is_control]
    labels = {one.cell: one.stack_label for one in found}
    envelope = max(
        (abs(log(c.ratio)) for c in compared if c.is_control and c.ratio and c.reference_cell in ids), default=0.0
    )
    sides = [side for c in here if (side := _side(c)) is not None]
    ahead: tuple[str, ...] = ()
    if not here:
        best = "one stack alone" if len(found) == 1 else "stacks were not compared in this run"
    elif len(sides) < len(here):
        why = next(rate_words.why(c, capacity) for c in here if _side(c) is None)
        best = f"not resolved: {why}"
    else:
        reference = here[0].reference_cell
        ahead = ranking.leaders(sides, reference, max(log(1 + margin), envelope))
        best, ahead = _named(ahead, labels, sides, reference, envelope, margin)
    scores = tuple(replace(_rate(one), is_best=one.cell in ahead) for one in found)
    row = ScoreRow(
        name=_CAPACITY,
        title=_HIGHEST,
        unit=f"highest rate per second at which {goals}",
        best=best,
        is_resolved=bool(ahead),
        scores=scores,
    )
    return ScoreTable(setting=f"{setting}, {goals}", stacks=tuple(labels.values()), rows=(row,))


def _side(of: RateComparison) -> ranking.Side | None:
    if of.interval is None or of.ratio is None or of.standing == "cannot tell":
        return None
    return ranking.Side(
        cell=of.cell,
        ratio=1 / of.ratio,
        interval=(1 / of.interval[1], 1 / of.interval[0]),
        standing=_MOST_LESS.get(of.standing, of.standing),
    )


def _named(
    ahead: tuple[str, ...],
    labels: Mapping[str, str],
    sides: Sequence[ranking.Side],
    reference: str,
    envelope: float,
    margin: float,
) -> tuple[str, tuple[str, ...]]:
    """Who leads in words, and their cells: none where it is not resolved."""
    names = [labels[cell] for cell in ahead]
    if len(ahead) == 1:
        return names[0], ahead
    if envelope <= log(1 + margin) and ranking.are_alike(ahead, sides, reference, margin):
        return f"{quantities.listed(names)}: less than {quantities.margin(margin)} apart", ahead
    return f"not resolved: {quantities.any_of(names)}", ()


def _rate(found: FoundRate) -> Score:
    if found.rate_per_s is None:
        return Score(
            stack=found.stack_label,
            text="not known",
            basis="not measured",
            evidence="rate",
            cell=found.cell,
            why=rate_words.why_no_interval(found) or "no search ended",
        )
    side = {"below": "below ", "at least": "at least ", "": ""}[found.side]
    invalid = f"invalid: {', '.join(found.invalid)} failed" if found.invalid else ""
    return Score(
        stack=found.stack_label,
        text=f"{side}{format_rate(found.rate_per_s)}",
        basis="measured",
        evidence="rate",
        cell=found.cell,
        value=found.rate_per_s,
        interval=found.interval,
        interval_text="" if found.interval is None else " to ".join(quantities.rate(bound) for bound in found.interval),
        why=invalid or ("the requester's limit" if found.is_requesters else ""),
    )


def _find(basis: Basis) -> Scorecard:
    return scorecard(basis.searched or basis.plan, basis.summary, catalogue())


QUESTION: Question[Scorecard | None] = Question(name="scorecard", type=Scorecard, empty=None, find=_find)
