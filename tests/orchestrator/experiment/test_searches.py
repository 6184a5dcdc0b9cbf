"""`find`: what an experiment asks of a search, what is refused of it, and how a search goes on."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import ceil, log2
from pathlib import Path

import pytest

from orchestrator.experiment.model.goal import Goal, parse_goal
from orchestrator.experiment.plan.loads import at_step, next_step, room, search_bounds
from orchestrator.experiment.plan.plan import Find, Plan
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL

FIND = MINIMAL + 'load: {find: {highest: rate, while: "p99 < 10ms"}}\n'


def a_find(steps: int, *, lowest: float = 100.0, highest: float = 1000.0) -> Find:
    return Find(goals=(Goal(statistic="p99", below=0.01),), lowest=lowest, highest=highest, steps=steps)


def searched(find: Find, holds_up_to: int) -> list[bool]:
    """The verdicts of a whole search in which the goals hold up to a step (-1: at none)."""
    held: list[bool] = []
    while (step := next_step(find, held)) is not None:
        held.append(step <= holds_up_to)
    return held


# ---- how a search goes on


@pytest.mark.parametrize("steps", [1, 2, 3, 6, 7, 100, 187, 254])
def test_a_search_finds_every_rate_and_both_ends_in_as_many_probes_as_it_says(steps):
    find = a_find(steps)
    taken = []
    for last in range(-1, steps + 1):
        held = searched(find, last)
        assert search_bounds(find, held) == (last, last + 1)
        taken.append(len(held))
    assert max(taken) == find.probes == ceil(log2(steps + 2))


def test_the_rates_are_a_geometric_scale_from_the_lowest_to_the_highest():
    find = a_find(100)
    rates = [find.rate(step) for step in range(101)]
    assert (rates[0], rates[-1]) == (100.0, 1000.0)
    assert rates == sorted(set(rates))
    assert [b / a for a, b in pairwise(rates)] == [pytest.approx(find.factor, rel=0.002)] * 100
    with pytest.raises(ValueError, match="has no rate 101"):
        at_step(replace(a_plan().cells[0], find=find), 101)


# ---- what a plan has of it


def a_plan() -> Plan:
    return make_plan(Path(__file__).parents[3] / "experiments" / "capacity.yaml")


def test_every_block_has_one_probe_of_each_cell_in_balanced_order(write, known):
    plan = make_plan(write(FIND), known=known)
    places = {cell.id: 0 for cell in plan.cells}
    for block in range(plan.blocks):
        order = [trial.cell for trial in plan.trials if trial.block == block]
        assert sorted(order) == sorted(places)
        places[order[0]] += 1
    assert set(places.values()) == {plan.blocks // 2}
    assert len({trial.seed for trial in plan.trials}) == plan.blocks, "every probe has arrivals of its own"


@pytest.mark.parametrize(
    ("text", "statistic", "below", "needs"),
    [
        ("p99 < 10ms", "p99", 0.01, 1000),
        ("p99.9 < 100 ms", "p99.9", 0.1, 10_000),
        ("max < 1s", "max", 1.0, 1),
        ("errors < 0.5 %", "errors", 0.005, 2000),
    ],
)
def test_a_goal_is_read_and_knows_how_many_requests_it_needs(text, statistic, below, needs):
    goal = parse_goal(text)
    assert (goal.statistic, goal.below, goal.requests) == (statistic, below, needs)
    assert parse_goal(goal.text) == goal


def test_an_open_loop_has_room_for_half_a_second():
    assert (room(500.0), room(5.0), room(10_000.0), room(500.0, requests=20)) == (250, 8, 256, 20)
