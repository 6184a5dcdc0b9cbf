"""Factors: declared once, in the ids of their cells alone, and what both ends are sent of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.model import factors
from orchestrator.experiment.model.experiment import ExcludeSpec, Experiment, StackSpec
from orchestrator.experiment.model.factors import FACTORS, OF_THE_CALL, knobs
from orchestrator.experiment.plan.cells import connections_of, processes_of, workers_of, workers_told
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.results.manifest import SAMPLE_COLUMNS
from services.python.contract.knobs import allows
from tests.support.experiments import MINIMAL, Known, Write, planner


def test_a_cell_has_a_value_of_every_factor(write: Write, known: Known) -> None:
    text = MINIMAL.replace("timestamp", "{echo: {bytes: 1 kB}}") + "load: {rate: 100/s}\nconnection: per-request\n"
    for cell in make_plan(write(text), known=known).cells:
        assert list(cell.factors) == [factor.name for factor in FACTORS]
        assert cell.factors["bytes"] == 1000
        assert cell.factors["payload"] == "echo 1 kB"
        assert (cell.factors["rate"], cell.factors["concurrency"]) == (100.0, 50)
        assert cell.connection == "per-request"


def test_keys_of_an_experiment_file_are_those_of_the_list() -> None:
    call = {factor.name for factor in OF_THE_CALL}
    assert call <= Experiment.model_fields.keys()
    assert call <= StackSpec.model_fields.keys()
    assert ExcludeSpec.model_fields.keys() == {factor.name for factor in FACTORS if factor.is_excludable}


def test_samples_have_the_columns_of_the_list() -> None:
    assert set(factors.COLUMNS) <= set(SAMPLE_COLUMNS)
    assert factors.in_columns({"concurrency": 8})["policy"] == "reuse"


EIGHT = "load: {concurrency: 8, requests: 100}\n"

plan_of = planner("name: x\nquestion: Why?\noperations: add\n")


@pytest.mark.parametrize(
    ("text", "ids", "sent"),
    [
        (
            f"stacks: grpc\nconnections: [each, 1, 4]\n{EIGHT}",
            ["reuse__c8", "reuse__connections-1__c8", "reuse__connections-4__c8"],
            [{}, {"connections": "1"}, {"connections": "4"}],
        ),
        (
            f"stacks: rest\nprocesses: [1, 2, 8]\n{EIGHT}",
            ["reuse__c8", "reuse__processes-2__c8", "reuse__processes-8__c8"],
            [{}, {}, {}],
        ),
        (f"stacks: rest\nworkers: [1, 4]\n{EIGHT}", ["reuse__c8", "reuse__workers-4__c8"], [{}, {"workers": "4"}]),
        (
            f"stacks: rest\nrequesters: [1, 2]\nprovider: lab\nplacements: cross-region\n{EIGHT}",
            ["reuse__c8", "reuse__requesters-2__c8"],
            [{}, {}],
        ),
        (
            "stacks: [tcp, {protocol: grpc, tls: tls1.3}]\ntls: [none, tls1.3]\n",
            ["reuse__c1", "reuse__tls1.3__c1", "reuse__tls1.3__c1"],
            [{}, {"tls": "tls1.3"}, {"tls": "tls1.3"}],
        ),
    ],
)
def test_each_value_of_a_list_is_a_cell_and_a_default_is_not_named(
    tmp_path: Path, text: str, ids: list[str], sent: list[dict[str, str]]
) -> None:
    cells = plan_of(tmp_path, text).cells
    assert [cell.id.split("__", 3)[3] for cell in cells] == ids
    assert [knobs(cell.factors) for cell in cells] == sent
    assert [cell.handshakes for cell in cells] == [int("tls1.3" in name) for name in ids]
    for cell in cells:
        assert connections_of(cell.factors, 8) == (
            8 if cell.factors["connections"] == "each" else cell.factors["connections"]
        )
        assert processes_of(cell.factors) == cell.factors["processes"]
        assert workers_told(knobs(cell.factors)) == workers_of(cell.factors) == cell.factors["workers"]


@pytest.mark.parametrize(
    ("value", "is_allowed"),
    [("each", True), ("1", True), ("64", True), ("65", False), ("0", False), ("x", False), ("-1", False)],
)
def test_an_end_allows_the_texts_and_ranges_of_its_knob(value: str, is_allowed: bool) -> None:
    assert allows(("each", "1..64"), value) is is_allowed


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
