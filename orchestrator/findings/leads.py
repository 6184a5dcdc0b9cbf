"""How much one side's lead over another changes along the axis, between its first and its last place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from orchestrator.experiment.model.factors import STACK
from orchestrator.findings.grid import Panel, Place, Sweep
from orchestrator.findings.ranking import Ranking
from orchestrator.findings.summary import CellSummary, Comparison
from orchestrator.statistics.intervals import ALPHA, paired
from orchestrator.statistics.terms import Interval

Change = Literal["falls", "rises", "turns", "steady", "none", "unsure"]
"""`turns`: the other one leads at the last place. `steady`: no significant change. `none`: no lead anywhere. `unsure`: no
interval, as there are fewer than three blocks."""
MOST = 4  # leads that can be read one after another


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side at a place: its median in ms, and how many round trips that is (None without distance)."""

    median: float
    round_trips: float | None


@dataclass(frozen=True, kw_only=True)
class LeadAt:
    """A lead at one place: the other's time over the leader's, with the 95 % interval that the comparison has.

    `ahead`: the side that is significantly faster there; None without one, or without an interval. `is_tie`: the whole
    interval lies within what matters.
    """

    place: Place
    ratio: float
    interval: Interval | None
    ahead: str | None
    leader: Side
    other: Side
    is_tie: bool = False


@dataclass(frozen=True, kw_only=True)
class Lead:
    """One side's lead over another in a panel, at the first and at the last place of the axis.

    `change` follows from the blocks' own ratios: the interval of the last over the first is corrected for all leads. Where
    it `turns`, the leader is ahead up to the place `until`, the other one from `since` on.
    """

    panel: Panel
    factor: str  # by which the two sides differ
    leader: str
    other: str
    first: LeadAt
    last: LeadAt
    change: Change
    until: Place
    since: Place
    blocks: int


def leads(along: Sweep | None, rankings: Sequence[Ranking]) -> tuple[Lead, ...]:
    """A lead for each panel with two places; empty of more than two sides, and where who leads changes more than once."""
    if along is None or not rankings:
        return ()
    groups: dict[tuple[int, str, str], dict[int, Comparison]] = {}
    for ranking in rankings:
        position = along.position(ranking.reference)
        if position is None or len(ranking.members) != 1 or ranking.statistic != "median":
            return ()
        (member,) = ranking.members
        if along.position(member.cell) != position:
            return ()
        if member.ratio is not None and ranking.value(member.cell) and ranking.value(ranking.reference):
            groups.setdefault((position[0], *_names(member)), {})[position[1]] = member
    for key, by_place in groups.items():  # those with an interval; all where none has one
        groups[key] = {place: member for place, member in by_place.items() if member.interval is not None} or by_place
    groups = {key: by_place for key, by_place in groups.items() if len(by_place) > 1}
    if not groups or len(groups) > MOST:
        return ()
    every = [
        _lead(along.panels[number], names, by_place, rankings[0].cells, len(groups))
        for (number, *names), by_place in groups.items()
    ]
    known = tuple(lead for lead in every if lead is not None)
    return known if len(known) == len(every) else ()


def _names(member: Comparison) -> tuple[str, str]:
    """What the compared side and its reference are called."""
    if member.factor == STACK:
        return member.stack_label, member.reference_label
    return f"{member.subject} {member.value}", f"{member.subject} {member.reference_value}"


def _lead(
    panel: Panel, names: Sequence[str], by_place: Mapping[int, Comparison], cells: Mapping[str, CellSummary], leads: int
) -> Lead | None:
    """None where who leads changes more than once."""
    mine, reference = names
    ordered = [by_place[place] for place in sorted(by_place)]
    aheads = [{"faster": mine, "slower": reference}.get(str(member.standing)) for member in ordered]
    is_led_between = not set(aheads) - {None} <= {aheads[0], aheads[-1]}  # by one who leads at neither end
    if len([name for name, _ in groupby(filter(None, aheads))]) > 2 or is_led_between:
        return None
    first, last = ordered[0], ordered[-1]
    leader = aheads[0] or aheads[-1] or (mine if (first.ratio or 1.0) < 1 else reference)
    other = reference if leader == mine else mine

    def at_places(name: str) -> list[int]:
        """Where this one is ahead."""
        return [place for place, ahead in zip(sorted(by_place), aheads, strict=True) if ahead == name]

    places = [
        _at(panel.places[place], by_place[place], ahead, cells, is_mine=leader == mine)
        for place, ahead in ((min(by_place), aheads[0]), (max(by_place), aheads[-1]))
    ]
    return Lead(
        panel=panel,
        factor=first.factor,
        leader=leader,
        other=other,
        first=places[0],
        last=places[1],
        change=_change(places[0], places[1], first, last, leader, ALPHA / leads),
        until=panel.places[max(at_places(leader), default=max(by_place))],
        since=panel.places[min(at_places(other), default=max(by_place))],
        blocks=min(len(first.by_block), len(last.by_block)),
    )


def _at(
    place: Place, member: Comparison, ahead: str | None, cells: Mapping[str, CellSummary], *, is_mine: bool
) -> LeadAt:
    mine, reference = (_side(cells[cell], place) for cell in (member.cell, member.reference_cell))
    ratio, interval = member.ratio or 1.0, member.interval
    if is_mine:
        ratio, interval = 1 / ratio, (1 / interval[1], 1 / interval[0]) if interval else None
    sides = {"leader": mine, "other": reference} if is_mine else {"leader": reference, "other": mine}
    return LeadAt(place=place, ratio=ratio, interval=interval, ahead=ahead, is_tie=member.standing == "tie", **sides)


def _side(cell: CellSummary, place: Place) -> Side:
    median = (cell.distribution.median if cell.distribution else None) or 0.0
    return Side(median=median, round_trips=median / place.rtt if place.rtt else None)


def _change(
    at_first: LeadAt, at_last: LeadAt, first: Comparison, last: Comparison, leader: str, alpha: float
) -> Change:
    if at_first.interval is None or at_last.interval is None:
        return "unsure"
    if at_first.ahead is None and at_last.ahead is None:
        return "none"
    if at_last.ahead not in (None, leader):
        return "turns"
    interval = _of_change(first, last, alpha)
    if interval is None or interval[0] <= 1 <= interval[1]:
        return "steady"
    return "falls" if at_last.ratio < at_first.ratio else "rises"


def _of_change(first: Comparison, last: Comparison, alpha: float) -> Interval | None:
    """The interval of the last ratio over the first, paired by block; None with fewer than three blocks that hold both."""
    before, after = (dict(zip(c.blocks, c.by_block, strict=True)) for c in (first, last))
    blocks = sorted(before.keys() & after.keys())
    if not blocks:
        return None
    ends = [[by_block[block] for block in blocks] for by_block in (before, after)]
    return paired(ends[1], ends[0]).interval(alpha)
