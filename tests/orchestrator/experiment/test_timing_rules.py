"""Timing rules that mislead are the question of a whole experiment; everything else refuses them at plan time."""

from __future__ import annotations

from orchestrator.experiment.plan.planning import make_plan
from services.python.contract.timing_rules import RULES, are_asked_for
from tests.support.experiments import Known, Write

HEAD = "name: example\nquestion: Which?\n"
WHOLE = HEAD + "timing_rules: misleading\nwarmup: {requests: 5, at_least: 0s}\n"


def test_an_experiment_that_says_so_has_a_row_of_each_rule_behind_every_request(write: Write) -> None:
    plan = make_plan(write(f"{WHOLE}stacks: [rest, grpc]\noperations: timestamp\n"))
    assert [are_asked_for(cell.factors) for cell in plan.cells] == [True, True]
    assert {cell.parts for cell in plan.cells} == {len(RULES)}
    assert all("__timing-rules__" in cell.id for cell in plan.cells)


def test_every_other_experiment_has_none(write: Write, known: Known) -> None:
    plan = make_plan(write(f"{HEAD}stacks: [rest, grpc]\noperations: timestamp\n"), known=known)
    assert not any(are_asked_for(cell.factors) or cell.parts for cell in plan.cells)
    assert not any("timing" in cell.id for cell in plan.cells)
