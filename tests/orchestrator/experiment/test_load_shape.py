"""How requests are spaced, and how long users think: each a factor, each in the ids of its cells alone."""

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
