"""Capacity on the scorecard: rates that were searched for, or the highest throughput of the loads that were tried."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import log
from operator import attrgetter

from orchestrator.analysis import compare, ranking, words
from orchestrator.analysis.found_rates import FoundRate, RateComparison
from orchestrator.analysis.load_series import LoadSeries
from orchestrator.analysis.scores import Score, ScoreRow, ScoreTable
from orchestrator.analysis.summary import CellSummary
from orchestrator.analysis.validity import withhold
from orchestrator.experiment.model.factors import STACK
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.read.units import format_rate

SEARCH = "experiments/capacity.yaml"
_NAME, _TITLE = "capacity", "Highest capacity"
_NOT_HERE = f"not measured here; {SEARCH} searches for it"
_MOST_LESS = {"more": "faster", "less": "slower"}  # a higher rate is a smaller time


# ---- rates that were searched for


def of_rates(found: Sequence[FoundRate], compared: Sequence[RateComparison], margin: float) -> tuple[ScoreTable, ...]:
    """A table of capacity alone for each setting and its goals; controls are left out."""
    key = attrgetter("setting", "goals")
    return tuple(
        _of_setting(setting, goals, [one for one in of if not one.is_control], compared, margin)
        for (setting, goals), of in groupby(found, key=key)
    )


def _of_setting(
    setting: str, goals: str, found: Sequence[FoundRate], compared: Sequence[RateComparison], margin: float
) -> ScoreTable:
    ids = {one.cell for one in found}
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
        why = next(c.why for c in here if _side(c) is None)
        best = f"not resolved: {why}"
    else:
        reference = here[0].reference_cell
        ahead = ranking.leaders(sides, reference, max(log(1 + margin), envelope))
        best, ahead = _named(ahead, labels, sides, reference, envelope, margin)
    scores = tuple(replace(_rate(one), is_best=one.cell in ahead) for one in found)
    row = ScoreRow(
        name=_NAME,
        title=_TITLE,
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
        return f"{words.listed(names)}: less than {words.margin(margin)} apart", ahead
    return f"not resolved: {words.any_of(names)}", ()


def _rate(found: FoundRate) -> Score:
    if found.rate_per_s is None:
        return Score(
            stack=found.stack_label,
            text="not known",
            basis="not measured",
            evidence="rate",
            cell=found.cell,
            why=found.why_no_interval or "no search ended",
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
        interval_text="" if found.interval is None else " to ".join(words.rate(bound) for bound in found.interval),
        why=invalid or ("the requester's limit" if found.is_requesters else ""),
    )


# ---- loads that were tried


class Capacities:
    """The highest throughput of each stack over the loads of its series, and how it compares with the reference's."""

    def __init__(
        self,
        plan: Plan,
        cells: Sequence[CellSummary],
        series: Sequence[LoadSeries],
        invalid: Mapping[str, Sequence[str]],
    ) -> None:
        self._margin = plan.matters
        self._series = {point.cell: of for of in series for point in of.points}
        pairs = list(_pairs(plan, [of for of in series if not of.is_open]))
        found = compare.compare_by(("throughput",), plan, cells, pairs, invalid)
        self._compared = {(c.cell, c.reference_cell): c for c in withhold(found, invalid)}

    def row(self, cells: Sequence[CellSummary]) -> ScoreRow:
        """The row of the cells of a setting, those of a whole series at one of its loads."""
        of = [self._series.get(cell.id) for cell in cells]
        scores = [_of_loads(cell, series) for cell, series in zip(cells, of, strict=True)]
        known = [series for series in of if series is not None]
        ahead: tuple[str, ...] = ()
        if not known:
            best = _NOT_HERE
        elif any(series.is_open for series in known):
            best = f"not resolved: rates were tried in steps; {SEARCH} searches for it"
        elif len(known) == 1:
            best = "one stack alone" if len(cells) == 1 else f"not resolved: one stack has such loads; {_NOT_HERE}"
        else:
            best, ahead = self._best(known)
        return ScoreRow(
            name=_NAME,
            title=_TITLE,
            unit="replies per second, the highest of the loads tried" if known else "replies per second",
            best=best,
            is_resolved=bool(ahead),
            scores=tuple(replace(score, is_best=score.cell in ahead) for score in scores),
        )

    def _best(self, series: Sequence[LoadSeries]) -> tuple[str, tuple[str, ...]]:
        """More load may bring more of a stack that was not driven to its limit, or whose requester was at its own."""
        labels = {_highest(of): of.stack_label for of in series}
        found = [c for (cell, other), c in self._compared.items() if cell in labels and other in labels]
        sides = [side for c in found if (side := ranking.side_of(c)) is not None]
        if len(sides) + 1 < len(series):
            return "not resolved: not all could be compared", ()
        reference = found[0].reference_cell
        ahead = ranking.leaders(sides, reference, log(1 + self._margin))
        open_ended = [
            of.stack_label
            for of in series
            if _highest(of) not in ahead and (not of.is_reached or of.limit in ("requester", "both"))
        ]
        if open_ended:
            return (
                f"not resolved: {words.listed(open_ended)} may answer more than was asked; {SEARCH} searches for it",
                (),
            )
        return _named(ahead, labels, sides, reference, 0.0, self._margin)


def _highest(series: LoadSeries) -> str:
    return "" if series.highest is None else series.points[series.highest].cell


def _pairs(plan: Plan, series: Sequence[LoadSeries]) -> Sequence[contrasts.Pair]:
    """Each stack at the load with its highest throughput, beside the reference at that of its own."""
    planned = {cell.id: cell for cell in plan.cells}
    reference = plan.reference or plan.stacks[0].id
    controls: Container[str] = {stack.id for stack in plan.stacks if stack.control_of}
    found = []
    for of in series:
        for other in series:
            is_asked = other.stack == reference and of.stack != reference and of.stack not in controls
            if is_asked and of.setting == other.setting and _highest(of) and _highest(other):
                cell, beside = planned[_highest(of)], planned[_highest(other)]
                found.append(contrasts.Pair(factor=STACK, cell=cell, reference=beside))
    return found


def _of_loads(cell: CellSummary, series: LoadSeries | None) -> Score:
    if series is None or (not series.is_open and series.highest is None):
        return Score(stack=cell.stack_label, text="not measured", basis="not measured", why="one load alone")
    if series.is_open:
        text = (
            "keeps up with none of the rates"
            if series.keeps_up_to is None
            else (f"keeps up with {series.points[series.keeps_up_to].load_text}")
        )
        return Score(stack=cell.stack_label, text=text, basis="measured", evidence="load", cell=series.points[0].cell)
    point = series.points[series.highest or 0]
    return Score(
        stack=cell.stack_label,
        text=words.rate(point.throughput_per_s or 0.0),
        basis="measured",
        evidence="load",
        cell=point.cell,
        value=point.throughput_per_s,
        interval=point.interval,
        interval_text="" if point.interval is None else " to ".join(words.rate(bound) for bound in point.interval),
        why=f"with {point.load_text}" + ("" if series.is_reached else ", the most that was tried or near it"),
    )
