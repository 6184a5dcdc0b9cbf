"""How requests are spaced, how long users think, and steps: each a factor, each in the ids of its cells alone."""

from __future__ import annotations

from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL, Known, Write

ONE = MINIMAL.replace("[rest, grpc]", "rest")


def loads_of(plan: Plan) -> list[str]:
    return [cell.id.rpartition("__")[2] for cell in plan.cells]


def test_arrivals_are_a_factor_of_open_loops(write: Write, known: Known) -> None:
    text = ONE + "load: {rate: [100/s, 200/s], arrivals: [poisson, uniform], duration: 5s}\ncompare_by: arrivals\n"
    plan = make_plan(write(text), known=known)
    assert loads_of(plan) == ["r100-c50", "r100-uniform-c50", "r200-c100", "r200-uniform-c100"]
    assert [cell.load.arrivals for cell in plan.cells] == ["poisson", "uniform"] * 2
    assert [(pair.cell.factors["arrivals"], pair.reference.factors["arrivals"]) for pair in pairs(plan)] == [
        ("uniform", "poisson")
    ] * 2
    assert {cell.factors["think"] for cell in plan.cells} == {None}


def test_think_time_is_a_factor_of_closed_loops_and_none_is_as_before(write: Write, known: Known) -> None:
    text = ONE + "load: {concurrency: 5, think: [0ms, 10ms], thinking: [constant, exponential]}\ncompare_by: think\n"
    plan = make_plan(write(text + "reference: 0ms\n"), known=known)
    assert loads_of(plan) == ["c5", "c5-think10ms", "c5-think10ms-exponential"]
    assert [cell.factors["think"] for cell in plan.cells] == [0.0, 0.01, 0.01]
    assert {cell.factors["arrivals"] for cell in plan.cells} == {None}
    assert [(pair.cell.load.thinking, pair.reference.load.think_s) for pair in pairs(plan)] == [("constant", 0.0)]


def test_each_step_is_a_level_with_its_own_end(write: Write, known: Known) -> None:
    steps = "[{rate: 100/s, duration: 5s}, {rate: 500/s}, {concurrency: 2, think: 1ms, requests: 70}]"
    plan = make_plan(write(ONE + f"load: {{arrivals: uniform, duration: 8s, steps: {steps}}}\n"), known=known)
    assert loads_of(plan) == ["r100-uniform-c50", "r500-uniform-c250", "c2-think1ms"]
    assert [(cell.load.duration_s, cell.load.requests) for cell in plan.cells] == [(5, None), (8, None), (None, 70)]
    assert len(plan.trials) == 3 * plan.repeats


def test_an_operations_own_level_stands_in_place_of_the_steps(write: Write, known: Known) -> None:
    text = ONE.replace("timestamp", "[add, {echo: {load: {concurrency: 3}}}, {image: {load: {duration: 3s}}}]")
    plan = make_plan(write(text + "load: {duration: 8s, steps: [{rate: 100/s}, {rate: 200/s}]}\n"), known=known)
    assert loads_of(plan) == ["r100-c50", "r200-c100", "c3", "r100-c50", "r200-c100"]
    assert [cell.load.duration_s for cell in plan.cells] == [8, 8, 8, 3, 3]
