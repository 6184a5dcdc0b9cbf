import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from orchestrator.experiment.model.json_schema import json_schema
from orchestrator.experiment.plan.plan import Plan, read_plan
from orchestrator.experiment.plan.planning import make_plan

EXPERIMENTS = Path(__file__).parents[3] / "experiments"
SHIPPED = sorted(EXPERIMENTS.glob("*.yaml"))
KEPT = json.loads(Path(__file__).with_name("shipped_cells.json").read_text())


def test_the_schema_in_the_repository_is_current() -> None:
    assert json.loads((EXPERIMENTS / "schema.json").read_text()) == json_schema(), (
        "make it again: orch init --schema > experiments/schema.json"
    )


def refusals(document: dict[str, Any]) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(json_schema()).iter_errors(document)]


def cells_of(plan: Plan) -> dict[str, Any]:
    """What is written down of a shipped experiment: an id names samples that people keep."""
    return {
        "labels": {stack.id: stack.label for stack in plan.stacks},
        "operations": {operation.id: operation.label for operation in plan.operations},
        "cells": [cell.id for cell in plan.cells],
        "seeds": [plan.trials[0].seed, plan.trials[-1].seed],
    }


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_experiments_plan_to_the_same_cells_and_satisfy_the_schema(path: Path) -> None:
    plan = make_plan(path)
    assert plan.name == path.stem
    assert plan.question.endswith("?")
    assert cells_of(plan) == KEPT.get(path.name, cells_of(plan))
    assert read_plan(plan.to_dict()) == plan
    assert refusals(yaml.safe_load(path.read_text())) == []
    assert path.read_text().startswith("# yaml-language-server: $schema=schema.json\n")


@pytest.mark.parametrize(
    "change",
    [
        {"stacks": {"protocol": "rest", "client": ["raw", "pycurl"]}},
        {"operations": [{"echo": {"bytes": ["1 kB", "2 kB"], "load": {"requests": 3}}}, "add", {"image": None}]},
        {"placements": [{"name": "far", "rtt": "80ms"}, "local"]},
        {"load": {"concurrency": [1, 2], "rate": "5/s"}},
        {"exclude": {"protocol": "rest"}},
        {"http": 2},
        {"http": [1.1, "2"]},
    ],
)
def test_the_short_and_the_long_forms_are_both_in_the_schema(change: dict[str, Any]) -> None:
    document = {"name": "x", "question": "Why?", "stacks": "all", "operations": "timestamp", **change}
    assert refusals(document) == []


@pytest.mark.parametrize(
    "change",
    [
        {"stakcs": "rest"},
        {"operations": {"add": {}, "echo": {}}},
        {"operations": "ad"},
        {"load": {"at_most": "60"}},
        {"load": {"requests": 0}},
        {"connection": "keep"},
        {"http": 4},
        {"http": True},
        {"load": None},
    ],
)
def test_editors_see_what_the_loader_refuses(change: dict[str, Any]) -> None:
    assert refusals({"name": "x", "question": "Why?", "stacks": "all", "operations": "timestamp", **change})
