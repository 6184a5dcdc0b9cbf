"""`repeats: {until: 3%, at_most: 30}`: what a file may say, and what its plan keeps of it."""

from __future__ import annotations

from pathlib import Path

from orchestrator.experiment.model.json_schema import json_schema
from orchestrator.experiment.plan.plan import Plan, Until
from orchestrator.experiment.plan.planning import make_plan

TEXT = "name: until\nquestion: Which?\nstacks: [rest, grpc]\noperations: [timestamp]\n"
SHIPPED = Path(__file__).parents[3] / "experiments" / "until_certain.yaml"


def planned(folder: Path, more: str, text: str = TEXT) -> Plan:
    path = folder / "until.yaml"
    path.write_text(text + more)
    return make_plan(path, needs_programs=False)


def test_the_schedule_has_room_for_the_most_blocks_and_is_that_of_as_many_fixed_ones(tmp_path):
    plan = planned(tmp_path, "repeats: {until: 3%, at_most: 12}\n")
    assert plan.until == Until(within=0.03, at_least=3, at_most=12)
    fixed = planned(tmp_path, "repeats: 12\n")
    assert plan.trials == fixed.trials
    assert plan.id != fixed.id


def test_its_keys_can_be_set_one_by_one(tmp_path):
    path = tmp_path / "until.yaml"
    path.write_text(TEXT + "repeats: {until: 3%, at_most: 12}\n")
    plan = make_plan(path, ["repeats.at_most=9", "repeats.until=4%"], needs_programs=False)
    assert plan.until == Until(within=0.04, at_least=3, at_most=9)
    assert make_plan(path, ["repeats=4"], needs_programs=False).until is None


def test_the_schema_offers_both_forms():
    offered = json_schema()["properties"]["repeats"]["anyOf"]
    assert [option.get("type", "model") for option in offered] == ["integer", "model"]


def test_the_shipped_experiment_has_a_plan():
    plan = make_plan(SHIPPED, needs_programs=False)
    assert plan.until is not None
    assert plan.until.at_least < plan.repeats
