"""What a lead becomes along the axis, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator import quantities
from orchestrator.experiment.model.factors import STACK
from orchestrator.findings.grid import Sweep
from orchestrator.findings.leads import Lead, LeadAt
from orchestrator.quantities import factor
from orchestrator.wording.phrasing import fitting, named, scale_for
from orchestrator.wording.tables import axis_names


def sentence(along: Sweep, lead: Lead) -> str:
    """The lead of the first operation, with the round trips at the last place.

    `grpc's lead over rest on `add` falls from 3.2 times on one host to 2.0 times between the regions (37.5 against 75.2
    ms); there rest takes 2.0 round trips, grpc 1.0.`
    """
    change, rest = _change(along, lead), f"{_unsure(lead)}."
    medians, trips = _medians(lead.last), _round_trips(lead)
    return fitting(*(f"{change}{more}{rest}" for more in (f"{medians}{trips}", trips, medians, "")))


def others(along: Sweep, rest: Sequence[Lead]) -> str:
    """The leads of the further operations, a short sentence each."""
    return " ".join(fitting(f"{_change(along, lead)}{_medians(lead.last)}{_unsure(lead)}.") for lead in rest)


def _change(along: Sweep, lead: Lead) -> str:
    """From the first place to the last, without the medians."""
    leader, other = named(lead.leader), named(lead.other)
    where = f"on `{lead.panel.operation}`{axis_names.setting(lead.panel)}"
    first, last = (axis_names.at(along, at.place) for at in (lead.first, lead.last))
    if lead.change == "turns":
        return _turn(along, lead, where, first, last)
    if lead.change == "none":
        bounds = [" to ".join(quantities.bounds(at.interval or (1.0, 1.0))) for at in (lead.first, lead.last)]
        ratios = f"{other} takes {bounds[0]} times as long {first}, {bounds[1]} times {last}"
        what = "difference that matters" if lead.first.is_tie and lead.last.is_tie else "significant difference"
        return f"{leader} and {other} show no {what} {where}: {ratios}"
    whose = f"{leader}'s lead" if lead.factor == STACK else f"The lead of {leader}"
    if lead.change == "steady":
        ends = f"{_with_interval(lead.first)} {first}, {_with_interval(lead.last)} {last}"
        return f"{whose} over {other} {where} does not change significantly: {ends}"
    verb = "falls" if lead.last.ratio < lead.first.ratio else "rises"
    return f"{whose} over {other} {where} {verb} from {_lead(lead.first)} {first} to {_lead(lead.last)} {last}"


def _turn(along: Sweep, lead: Lead, where: str, first: str, last: str) -> str:
    """`rest leads grpc on `add` up to 4 in flight, by 1.5 times with 1 in flight; grpc leads rest from 16 ... on, ...`."""
    leader, other = named(lead.leader), named(lead.other)
    before, after = f"{first}, by {_times(lead.first.ratio)}", f"{last}, by {_times(1 / lead.last.ratio)}"
    if lead.until != lead.first.place:
        before = f"up to {axis_names.head(along, lead.panel, lead.until)}, by {_times(lead.first.ratio)} {first}"
    if lead.since != lead.last.place:
        after = f"from {axis_names.head(along, lead.panel, lead.since)} on, by {_times(1 / lead.last.ratio)} {last}"
    return f"{leader} leads {other} {where} {before}; {other} leads {leader} {after}"


def _lead(at: LeadAt) -> str:
    if at.interval is None or at.ahead:
        return _times(at.ratio)
    low, high = at.interval
    return "no significant difference" if low <= 1 <= high and not at.is_tie else "no difference that matters"


def _times(ratio: float) -> str:
    """`3.2 times`; two decimals where one would hide the difference."""
    return f"{factor(ratio, 2 if ratio < 1.5 else 1 if ratio < 10 else 0)} times"


def _with_interval(at: LeadAt) -> str:
    between = " to ".join(quantities.bounds(at.interval)) if at.interval else ""
    return f"{_times(at.ratio)} ({between})" if at.ahead else f"no significant difference ({between} times)"


def _medians(at: LeadAt) -> str:
    """` (37.5 against 75.2 ms)`, the leader's first."""
    medians = [at.leader.median, at.other.median]
    scale = scale_for(medians)
    return f" ({' against '.join(map(scale.number, medians))} {scale.name})"


def _round_trips(lead: Lead) -> str:
    """`; there rest takes 2.0 round trips, grpc 1.0`; empty without distance."""
    other, leader = lead.last.other, lead.last.leader
    if other.round_trips is None or leader.round_trips is None:
        return ""
    return (
        f"; there {named(lead.other)} takes {quantities.number(other.round_trips, 1)} round trips, {named(lead.leader)} "
        f"{quantities.number(leader.round_trips, 1)}"
    )


def _unsure(lead: Lead) -> str:
    return f"; seen in {quantities.count(lead.blocks, 'block')}, not yet sure" if lead.change == "unsure" else ""
