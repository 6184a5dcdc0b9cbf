"""Which cells of a plan take turns, for how long, and with which others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import ceil
from pathlib import Path

import pytest

from orchestrator.experiment.plan.estimate import own_s
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.schedule import groups_of, orders_of_turns
from orchestrator.experiment.plan.turn_lengths import as_measured, stretched

TEXT = """
name: turns
question: Which is faster?
stacks: [rest, grpc]
operations: [add]
load: {duration: 1s}
"""
Write = Callable[[str], Path]


def plan_of(write: Write, *more: str) -> Plan:
    return make_plan(write(TEXT), more)


def test_turns_are_on_by_default(write: Write) -> None:
    plan = plan_of(write)
    assert {(cell.turns.length_s, cell.turns.rounds) for cell in plan.cells if cell.turns} == {(0.01, 100)}
    assert plan.without_turns == ()


def test_a_length_may_be_given_and_turns_left_out(write: Write) -> None:
    assert {cell.turns and cell.turns.rounds for cell in plan_of(write, "turn=100ms").cells} == {10}
    assert {cell.turns for cell in plan_of(write, "turn='off'").cells} == {None}


def test_a_turn_is_as_long_as_twenty_requests(write: Write) -> None:
    plans = [plan_of(write, f"operations=[{{echo: {{bytes: {size}}}}}]") for size in ("100 B", "2 MB")]
    lengths = [cell.turns.length_s if cell.turns else None for plan in plans for cell in plan.cells]
    assert lengths[0] == 0.01
    assert lengths[-1] is not None
    assert lengths[-1] > 0.1


def test_the_reference_of_many_comparisons_takes_more_turns(write: Write) -> None:
    cells = plan_of(write, "stacks=all", "reference=grpc").cells
    each_round = {cell.stack.split("-")[0]: cell.turns.each_round for cell in cells if cell.turns}
    assert each_round.pop("grpc") == 3
    assert set(each_round.values()) == {1}


@pytest.mark.parametrize("load", ["{requests: 1000}", "{requests: 1000, concurrency: 8, at_most: 10s}"])
def test_a_number_of_requests_is_shared_by_turns(write: Write, load: str) -> None:
    for cell in plan_of(write, f"load={load}").cells:
        turns = cell.turns
        assert turns is not None
        assert turns.requests is not None
        assert turns.requests >= max(20, 4 * cell.load.concurrency)
        assert turns.rounds > 1
        assert 1000 <= turns.rounds * turns.requests < 1000 + turns.rounds
        whole = turns.load_of(cell.load, turns.rounds)
        assert whole.duration_s == (None if cell.load.duration_s is None else pytest.approx(10))


@pytest.mark.parametrize(
    ("request_s", "length_s"), [(0.0001, 0.01), (0.004, 0.08), (0.0124, 0.25), (0.02, None), (1.0, None)]
)
def test_turns_are_as_long_as_the_smoke_tests_requests_need(
    write: Write, request_s: float, length_s: float | None
) -> None:
    plan = plan_of(write)
    turns = as_measured(plan, plan.cells[0], own_s(plan, plan.cells[0], request_s))
    assert (turns and turns.length_s) == length_s
    assert turns is None or turns.rounds == ceil(round(1 / turns.length_s, 6))


def test_a_slow_stack_takes_as_many_turns_as_the_others_of_its_setting_up_to_four_times_its_duration(
    write: Write,
) -> None:
    rest, grpc = plan_of(write).cells
    assert rest.turns is not None
    for own, rounds in ((40, 100), (20, 80)):
        slow = replace(rest.turns, rounds=own)
        turns = stretched((rest, grpc), {rest.id: rest.turns, grpc.id: slow})
        assert [each.rounds for each in turns.values()] == [100, rounds]
    elsewhere = replace(grpc, operation="other")
    assert stretched((rest, elsewhere), {rest.id: rest.turns, grpc.id: slow})[grpc.id] == slow
    with_requests = replace(slow, requests=30)
    assert stretched((rest, grpc), {rest.id: rest.turns, grpc.id: with_requests})[grpc.id] == with_requests


def test_a_request_that_is_longer_than_a_turn_takes_none(write: Write) -> None:
    plan = plan_of(write, "turn=10ms", "operations=[{echo: {bytes: 20 MB}}]")
    assert {cell.turns for cell in plan.cells} == {None}
    assert plan.without_turns == ("a request takes longer than a turn of 10 ms",)


def test_hosts_of_less_than_a_core_take_longer_turns_in_smaller_groups(write: Write) -> None:
    small = "provider=lab", "machine=f1-micro", "placements=[same-zone]"
    plan = plan_of(write, *small, "stacks=[rest, websocket, grpc, graphql]")
    turns = [cell.turns for cell in plan.cells if cell.turns]
    assert {(each.length_s, each.rounds) for each in turns} == {(0.25, 4)}
    assert sorted(Counter(each.group for each in turns).values()) == [2, 2]
    few = plan_of(write, *small, "load={requests: 200}")
    assert {cell.turns for cell in few.cells} == {None}


@pytest.mark.parametrize("load", ["{requests: 30}", "{duration: 1s, rate: 100/s}", "{duration: 1s, think: 10ms}"])
def test_loads_that_cannot_wait_take_no_turns(write: Write, load: str) -> None:
    plan = plan_of(write, f"load={load}")
    assert {cell.turns for cell in plan.cells} == {None}
    assert len(plan.without_turns) == 1


def test_groups_hold_whole_settings_as_far_as_there_is_room(write: Write) -> None:
    cells = plan_of(write, "load={duration: 1s, concurrency: [1, 4, 8]}").cells
    assert sorted(Counter(groups_of(cells, 5).values()).values()) == [2, 4]
    assert sorted(Counter(groups_of(cells, 6).values()).values()) == [6]
    groups = groups_of(cells, 2)
    assert {groups[cell.id] for cell in cells if cell.load.concurrency == 1} == {groups[cells[0].id]}


def test_orders_of_turns_differ_by_block_and_have_every_cell_once() -> None:
    first, second = (orders_of_turns(7, block, 0, 4, 8) for block in (0, 1))
    assert first != second
    assert all(sorted(order) == [0, 1, 2, 3] for order in (*first, *second))
    assert first == orders_of_turns(7, 0, 0, 4, 8)
