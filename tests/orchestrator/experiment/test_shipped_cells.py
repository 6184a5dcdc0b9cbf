"""Every shipped experiment plans to the cells that are written down here: an id names samples that people keep."""

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.shapes import decode

EXPERIMENTS = Path(__file__).parents[3] / "experiments"
KEPT = Path(__file__).with_name("shipped_cells.json")


def cells_of(plan: Plan) -> dict[str, Any]:
    return {
        "labels": {stack.id: stack.label for stack in plan.stacks},
        "operations": {operation.id: operation.label for operation in plan.operations},
        "cells": [cell.id for cell in plan.cells],
        "seeds": [plan.trials[0].seed, plan.trials[-1].seed],
    }


@pytest.mark.parametrize("name", json.loads(KEPT.read_text()))
def test_a_shipped_experiment_plans_to_the_same_cells(name: str) -> None:
    plan = make_plan(EXPERIMENTS / name)
    assert cells_of(plan) == json.loads(KEPT.read_text())[name]
    assert decode(Plan, plan.to_dict()) == plan
