"""Which cells take turns, how long a turn is, and which cells take turns with each other."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import ceil, sqrt

from orchestrator.catalogue.offers import Protocol
from orchestrator.experiment.model.options import AUTO, OFF, SHORTEST_TURN_S
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.estimate import each_s
from orchestrator.experiment.plan.plan import Cell, Plan, Turns
from orchestrator.experiment.plan.rules import why_no_turns
from orchestrator.experiment.plan.schedule import groups_of
from orchestrator.experiment.providers import MACHINES, PROVIDERS
from orchestrator.experiment.read.units import format_duration

END_BYTES = 100_000_000
"""Of memory, of one end with its record."""
_TURN_S, _MOST_TURN_S, _STEP_S = 0.01, 0.25, 0.01
_THROTTLED_TURN_S, _MOST_THROTTLED_TURN_S = 0.25, 0.5  # some of the kernel's periods of 100 ms, each with a quota
_LEAST_ROUNDS = 10  # of a number of requests, whose turns are then shorter
_REQUESTS_OF_A_TURN = 20
_FLIGHTS_OF_A_TURN = 4  # each of as many requests as are in flight
_LEAST_WARM_UP, _MOST_WARM_UP = 2, 10  # after ten requests a stack that was idle is as fast as before
_WARM_SHARE = 0.2  # of a turn, what its warm-up may take of a stack that is slow
_MOST_TOGETHER = 24
_MOST_STRETCHED = 4  # so many times its duration a slow stack measures, to have as many turns as the others


def with_turns(plan: Plan, turn: float | str, known: Mapping[str, Protocol]) -> Plan:
    """The plan with the turns of its cells, and why some take none.

    The reference of k comparisons has the square root of k turns a round (Dunnett 1955), if a turn has a duration.
    """
    if turn == OFF:
        return plan
    together, most_s = _together(plan), _most_s(plan)
    stacks = {stack.id: stack for stack in plan.stacks}
    lengths: dict[str, Turns] = {}
    reasons: set[str] = set()
    for cell in plan.cells:
        stack = stacks[cell.stack]
        language = known[stack.protocol].client(stack.client).language
        reason = why_no_turns(cell, language, together)
        if reason is None:
            request_s = each_s(plan, cell)
            length_s = _length_s(plan, cell, request_s) if turn == AUTO else float(turn)
            turns = _turns(plan, cell, request_s, length_s)
            reason = _why_none(cell, request_s, turns, most_s, given_s=None if turn == AUTO else length_s)
        if reason is None:
            lengths[cell.id] = turns
        else:
            reasons.add(reason)
    groups = groups_of([cell for cell in plan.cells if cell.id in lengths], together)
    sizes = Counter(groups.values())
    compared = Counter(
        pair.reference.id for pair in pairs(plan) if groups.get(pair.cell.id) == groups.get(pair.reference.id)
    )

    taken: dict[str, Turns] = {}
    for name, group in groups.items():
        each_round = max(1, round(sqrt(compared[name]))) if lengths[name].requests is None else 1
        if sizes[group] > 1:
            taken[name] = replace(lengths[name], group=group, each_round=each_round)
    taken = stretched(plan.cells, taken)
    cells = tuple(replace(cell, turns=taken.get(cell.id)) for cell in plan.cells)
    return replace(plan, cells=cells, without_turns=tuple(sorted(reasons)))


def as_measured(plan: Plan, cell: Cell, own_s: float) -> Turns | None:
    """A cell's turns where a request takes `own_s` beside the network, never shorter than planned; None where too long."""
    if cell.turns is None:
        return None
    request_s = each_s(plan, cell, own_s)
    needed_s = _length_s(plan, cell, request_s)
    if needed_s > max(_most_s(plan), cell.turns.length_s):
        return None
    turns = _turns(plan, cell, request_s, max(cell.turns.length_s, needed_s))
    if turns.requests is not None and turns.rounds == 1:
        return cell.turns
    return replace(turns, group=cell.turns.group, each_round=cell.turns.each_round)


def stretched(cells: Iterable[Cell], turns: Mapping[str, Turns]) -> dict[str, Turns]:
    """Give slow cells as many rounds as others of their setting have, as far as a duration may be stretched; by id."""
    settings = {cell.id: cell.setting for cell in cells if cell.id in turns}
    most: dict[object, int] = {}
    for name, setting in settings.items():
        most[setting] = max(most.get(setting, 0), turns[name].rounds)
    return {
        name: each
        if each.requests is not None
        else replace(each, rounds=min(most[settings[name]], _MOST_STRETCHED * each.rounds))
        for name, each in turns.items()
    }


def _fewest(cell: Cell) -> int:
    return max(_REQUESTS_OF_A_TURN, _FLIGHTS_OF_A_TURN * cell.load.concurrency)


def _length_s(plan: Plan, cell: Cell, request_s: float) -> float:
    steps = ceil(round(_fewest(cell) * request_s / _STEP_S, 6))
    return max(_THROTTLED_TURN_S if _is_throttled(plan) else _TURN_S, round(steps * _STEP_S, 3))


def _most_s(plan: Plan) -> float:
    return _MOST_THROTTLED_TURN_S if _is_throttled(plan) else _MOST_TURN_S


def _why_none(cell: Cell, request_s: float, turns: Turns, most_s: float, *, given_s: float | None) -> str | None:
    if given_s is not None and request_s * cell.load.concurrency > given_s:
        return f"a request takes longer than a turn of {format_duration(given_s)}"
    if given_s is None and turns.length_s > most_s:
        return f"{_fewest(cell):,} requests take longer than {format_duration(most_s)}"
    is_one = turns.requests is not None and turns.rounds == 1
    return f"{cell.load.requests:,} requests are too few for two turns" if is_one else None


def _turns(plan: Plan, cell: Cell, request_s: float, length_s: float) -> Turns:
    """The turns of a cell that answers a request every `request_s`; those of a number of requests share it evenly."""
    flight_s = request_s * cell.load.concurrency
    warm_up = max(_LEAST_WARM_UP, min(_MOST_WARM_UP, int(_WARM_SHARE * length_s / flight_s)))
    requests, duration_s = cell.load.requests, cell.load.duration_s
    if requests is None:
        rounds = max(1, ceil(round((duration_s or 0.0) / length_s, 6)))
        return Turns(length_s=length_s, rounds=rounds, warm_up=warm_up)
    likely = requests if duration_s is None else min(requests, duration_s / request_s)
    shortest_s = _THROTTLED_TURN_S if _is_throttled(plan) else SHORTEST_TURN_S
    turn_s = min(length_s, max(shortest_s, likely * request_s / _LEAST_ROUNDS))
    rounds = max(1, int(likely / max(_fewest(cell), round(turn_s / request_s))))
    at_most_s = None if duration_s is None else duration_s / rounds
    return Turns(
        length_s=length_s, rounds=rounds, warm_up=warm_up, requests=ceil(requests / rounds), at_most_s=at_most_s
    )


def _together(plan: Plan) -> int:
    """How many stacks run at once: a host has the memory for their ends."""
    machine, ends = MACHINES.get(plan.machine or ""), 2
    room_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if machine is not None:
        memory_bytes = machine.memory_mb << 20
        is_shared = PROVIDERS[plan.provider].hosts_are_this_machine
        room_bytes = min(room_bytes, memory_bytes) if is_shared else memory_bytes
        ends = 2 if any(placement.kind == "local" for placement in plan.placements) else 1
    return min(_MOST_TOGETHER, room_bytes // 2 // (ends * END_BYTES))


def _is_throttled(plan: Plan) -> bool:
    """Whether hosts have less than a core, so that the kernel holds all ends back once one has used the quota."""
    machine = MACHINES.get(plan.machine or "")
    return machine is not None and machine.cores < 1
