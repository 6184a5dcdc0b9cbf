"""`pin` as a list: both ends on one CPU or two, each a placement of its own with a floor of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.plan.contrasts import all_pairs, pairs
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import planner

HEAD = "name: x\nquestion: Why?\noperations: add\nstacks: [rest, grpc]\n"

planned = planner(HEAD)


def test_each_value_of_a_list_is_a_placement(tmp_path: Path) -> None:
    plan = planned(tmp_path, "pin: [apart, together]\n")
    assert [(x.id, x.kind, x.pin) for x in plan.placements] == [
        ("local-apart", "local", "apart"),
        ("local-together", "local", "together"),
    ]
    assert plan.pins == ("apart", "together")
    assert [cell.factors["pin"] for cell in plan.cells] == ["apart", "together"] * 2


@pytest.mark.parametrize("pin", ["apart", "together", "'off'", "[together]"])
def test_one_value_is_no_factor_and_names_nothing(tmp_path: Path, pin: str) -> None:
    plan = planned(tmp_path, f"pin: {pin}\n")
    assert [x.id for x in plan.placements] == ["local"]
    assert {cell.factors["pin"] for cell in plan.cells} == {None}
    assert [cell.id for cell in plan.cells] == [cell.id for cell in planned(tmp_path, "").cells]
    assert plan.pins == (pin.strip("'[]"),)


def test_cells_are_compared_by_it_alone(tmp_path: Path) -> None:
    plan = planned(tmp_path, "pin: [apart, together]\ncompare_by: [stack, pin]\n")
    found = [(x.factor, x.cell.factors["pin"], x.reference.factors["pin"]) for x in pairs(plan)]
    assert found == [
        ("stack", "apart", "apart"),
        ("stack", "together", "together"),
        ("pin", "together", "apart"),
        ("pin", "together", "apart"),
    ]
    assert all(x.cell.stack == x.reference.stack for x in pairs(plan) if x.factor == "pin")


def test_every_two_stacks_are_paired_the_reference_first(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("name: x\nquestion: Why?\noperations: add\nstacks: [rest, grpc, http+cbor]\nreference: grpc\n")
    plan = make_plan(path)
    labels = {stack.id: stack.label for stack in plan.stacks}
    assert [(labels[x.cell.stack], labels[x.reference.stack]) for x in all_pairs(plan)] == [
        ("rest", "grpc"),
        ("http+cbor", "grpc"),
        ("http+cbor", "rest"),
    ]
