import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from orchestrator.experiment.model.experiment import json_schema
from orchestrator.experiment.plan.planning import make_plan

EXPERIMENTS = Path(__file__).parents[3] / "experiments"
SHIPPED = sorted(EXPERIMENTS.glob("*.yaml"))


def test_the_schema_in_the_repository_is_current() -> None:
    assert json.loads((EXPERIMENTS / "schema.json").read_text()) == json_schema(), (
        "make it again: orch init --schema > experiments/schema.json"
    )


def refusals(document: dict[str, Any]) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(json_schema()).iter_errors(document)]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_experiments_can_be_planned_and_satisfy_the_schema(path: Path) -> None:
    plan = make_plan(path)
    assert plan.name == path.stem
    assert plan.question.endswith("?")
    assert refusals(yaml.safe_load(path.read_text())) == []
    assert path.read_text().startswith("# yaml-language-server: $schema=schema.json\n")


@pytest.mark.parametrize(
    "change",
    [
        {"stacks": {"protocol": "rest", "client": ["raw", "pycurl"]}},
        {"operations": [{"echo": {"bytes": ["1 kB", "2 kB"], "load": {"requests": 3}}}, "add", {"image": None}]},
        {"placements": [{"name": "far", "rtt": "80ms"}, "local"]},
        {"load": {"concurrency": [1, 2], "rate": "5/s"}},
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
        {"load": {"at_most": "60"}},
        {"connection": "keep"},
        {"http": 4},
        {"http": True},
        {"load": None},
    ],
)
def test_editors_see_what_the_loader_refuses(change: dict[str, Any]) -> None:
    assert refusals({"name": "x", "question": "Why?", "stacks": "all", "operations": "timestamp", **change})
