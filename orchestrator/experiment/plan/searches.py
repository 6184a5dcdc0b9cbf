"""Searches for the highest rate at which goals hold: what a file asks of them, and how one goes on.

A search bisects the rates of its `Find`, which lie on a geometric scale: its next probe follows from the verdicts of those
before, and from nothing else. So a search that was cut goes on where it was, and anybody can follow it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.model.options import MOST_PER_S, Arrivals, FindSpec, LoadSpec
from orchestrator.experiment.plan.cell_ids import cell_id
from orchestrator.experiment.plan.find import Find
from orchestrator.experiment.plan.loads import room
from orchestrator.experiment.plan.plan import Cell
from orchestrator.experiment.read.tree import Key
from orchestrator.experiment.read.units import format_duration, format_rate
from services.python.contract.limits import Kind
from services.python.contract.lines import Load

_LOWEST_PER_S, _HIGHEST_PER_S = 10.0, 10_000.0
_WITHIN = 0.02
_FINEST = 0.005
_DURATION_S = 10.0
_UNFIT = ("rate", "requests", "at_most", "think", "thinking", "steps")


# ---- how a search goes on


def bounds(find: Find, held: Sequence[bool]) -> tuple[int, int]:
    """The highest step that held and the lowest that did not, after probes with these verdicts.

    -1 where none held, and `steps + 1` where all did.
    """
    low, high = -1, find.steps + 1
    for verdict in held:
        if high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if verdict else (low, middle)
    return low, high


def next_step(find: Find, held: Sequence[bool]) -> int | None:
    """Which step is tried next after probes with these verdicts; None when the search is over."""
    low, high = bounds(find, held)
    return (low + high) // 2 if high - low > 1 else None


def at(cell: Cell, step: int) -> Cell:
    """The cell of a search at one of its rates: an open loop like any other; ValueError for a step that it has not."""
    find = cell.find
    if find is None or not 0 <= step <= find.steps:
        raise ValueError(f"cell {cell.id} has no rate {step}")
    rate = find.rate(step)
    load = replace(cell.load, rate_per_s=rate, concurrency=find.concurrency or room(rate))
    factors = {**cell.factors, "rate": rate, "concurrency": load.concurrency}
    of_rate = cell_id(stack=cell.stack, operation=cell.operation, placement=cell.placement, values=factors, load=load)
    return replace(cell, id=of_rate, factors=factors, load=load, find=None)


# ---- what a file asks


def is_asked(located: Located, own: LoadSpec | None) -> bool:
    """Whether an operation's load is a search."""
    return (own is not None and own.find is not None) or located.experiment.load.find is not None


def resolve_searches(
    located: Located, own: LoadSpec | None, path: Sequence[Key], kind: Kind
) -> tuple[tuple[Load, Find | None], ...]:
    """Every search of an operation, with the load at its highest rate; what cannot be is noted in `located`."""
    common, own = located.experiment.load, own or LoadSpec()
    where: tuple[Key, ...] = (*path, "load", "find") if own.find is not None else ("load", "find")
    spec = own.find or common.find
    if spec is None:
        raise ValueError("no search is asked for")
    if kind == "stream":
        located.add(where, "a stream has no rate to find: its events come as its `per_second` says.")
    places: tuple[tuple[LoadSpec, tuple[Key, ...]], ...] = ((own, (*path, "load")), (common, ("load",)))
    for of, place in places:
        for key in _UNFIT:
            if getattr(of, key) is not None:
                located.add((*place, key), _refusal(key))
    duration = own.duration if own.duration is not None else common.duration
    lowest, duration_s = _begin(located, spec, duration, where)
    highest = spec.most or min(max(_HIGHEST_PER_S, 10 * lowest), float(MOST_PER_S))
    for goal in spec.goals:
        if goal.statistic != "errors" and goal.below > located.experiment.timeout:
            timeout = format_duration(located.experiment.timeout)
            located.add((*where, "while"), f"'{goal.text}' is beyond `timeout`: a request has failed after {timeout}.")
    if highest <= lowest:
        located.add(
            (*where, "to" if spec.most is not None else "from"),
            f"the rates tried go from {format_rate(lowest)} up, and {format_rate(highest)} is no higher.",
        )
        return ()
    steps = _steps(located, spec, lowest, highest, where)
    arrivals: tuple[Arrivals, ...] = own.arrivals or common.arrivals or ("poisson",)
    in_flight: tuple[int | None, ...] = own.concurrency or common.concurrency or (None,)
    found: list[tuple[Load, Find | None]] = []
    for bound, arriving in product(in_flight, arrivals):
        find = Find(goals=spec.goals, lowest=lowest, highest=highest, steps=steps, concurrency=bound)
        load = Load(concurrency=bound or room(highest), duration_s=duration_s, rate_per_s=highest, arrivals=arriving)
        found.append((load, find))
    return tuple(found)


def refuse_beside_others(located: Located, finds: Iterable[Find | None]) -> None:
    """Note an experiment of which some operations search for their rate, and others have one."""
    asked = [find is not None for find in finds]
    if any(asked) and not all(asked):
        item = next(
            number for number, spec in enumerate(located.experiment.operations) if is_asked(located, spec.options.load)
        )
        own = located.experiment.operations[item]
        place: tuple[Key, ...] = ("load", "find")
        if own.options.load is not None and own.options.load.find is not None:
            place = ("operations", item, own.name, "load", "find")
        located.add(
            place, "an experiment searches for the rates of all its operations, or of none: ask the others in another."
        )


def _refusal(key: str) -> str:
    if key == "rate":
        return "`find` searches for the rate: leave `rate` out, or `find`."
    if key in ("think", "thinking"):
        return f"`find` offers an open loop, whose requests do not wait for each other: leave `{key}` out."
    if key == "steps":
        return "`find` tries the rates by itself: leave `steps` out, or `find`."
    return f"every rate of a search is offered for the same `duration`: leave `{key}` out."


def _begin(located: Located, spec: FindSpec, duration_s: float | None, where: tuple[Key, ...]) -> tuple[float, float]:
    """The lowest rate tried, and for how long each is offered: so that every trial has the requests that the goals need."""
    needed = max(goal.requests for goal in spec.goals)
    if spec.lowest is None:
        offered_s = duration_s or _DURATION_S
        return max(_LOWEST_PER_S, _rounded_up(needed / offered_s)), offered_s
    if duration_s is None:
        return spec.lowest, max(_DURATION_S, float(math.ceil(needed / spec.lowest)))
    if spec.lowest * duration_s < needed:
        of = max(spec.goals, key=lambda goal: goal.requests)
        located.add(
            (*where, "from"),
            f"at {format_rate(spec.lowest)} for {format_duration(duration_s)} a trial has about"
            f" {spec.lowest * duration_s:,.0f} requests, and '{of.text}' needs {needed:,}: begin at"
            f" {format_rate(_rounded_up(needed / duration_s))}, or give a `duration` of"
            f" {math.ceil(needed / spec.lowest)}s.",
        )
    return spec.lowest, duration_s


def _rounded_up(rate: float) -> float:
    """To two digits, upwards."""
    scale = 10 ** (math.floor(math.log10(rate)) - 1)
    return float(math.ceil(round(rate / scale, 9)) * scale)


def _steps(located: Located, spec: FindSpec, lowest: float, highest: float, where: tuple[Key, ...]) -> int:
    """How many steps lie between the lowest and the highest rate: as `within` asks, or as many as `probes` tell apart."""
    spread = math.log(highest / lowest)
    if spec.probes is not None and spec.within is None:
        return min((1 << spec.probes) - 2, max(1, math.floor(spread / math.log1p(_FINEST))))
    within = spec.within or _WITHIN
    steps = max(1, math.ceil(round(spread / math.log1p(within), 9)))
    needed = (steps + 1).bit_length()
    if spec.probes is not None and needed > spec.probes:
        located.add(
            (*where, "probes"),
            f"from {format_rate(lowest)} to {format_rate(highest)} within {within * 100:g} % takes up to {needed} probes:"
            " allow as many, or leave `within` or `probes` out.",
        )
    return steps
