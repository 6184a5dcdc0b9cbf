from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.catalogue.offers import Protocol
from orchestrator.errors import UsageError
from orchestrator.experiment.plan import store
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL

Write = Callable[[str], Path]


@pytest.fixture
def plan(write: Write, known: dict[str, Protocol], tmp_path: Path) -> Plan:
    (tmp_path / "body.json").write_text('{"a": 1}')
    return make_plan(write(MINIMAL.replace("timestamp", "{echo: {json: body.json}}")), known=known)


def test_a_saved_plan_is_current_and_comes_back_whole(plan: Plan, tmp_path: Path) -> None:
    path = store.save(plan, tmp_path / "plans")
    assert path.name == f"{plan.id}.json"
    assert store.load(plan.id, tmp_path / "plans") == plan
    assert store.current(tmp_path / "plans") == plan


def test_without_a_plan_the_error_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no current plan") as error:
        store.current(tmp_path)
    assert error.value.hint == "make one: orch plan FILE; `orch init FILE` writes an experiment to start from"


def test_a_plan_that_was_changed_by_hand_is_refused(plan: Plan, tmp_path: Path) -> None:
    path = store.save(plan, tmp_path)
    path.write_text(path.read_text().replace('"repeats":5', '"repeats":6'))
    with pytest.raises(UsageError, match="was changed after it was written"):
        store.load(plan.id, tmp_path)


def test_a_plan_is_stale_when_a_file_of_it_changed_or_is_gone(plan: Plan, tmp_path: Path) -> None:
    assert store.is_stale(plan) is None
    body, experiment = tmp_path / "body.json", tmp_path / "example.yaml"
    body.write_text('{"a": 2}')
    assert store.is_stale(plan) == f"{body} has changed since the plan was made"
    body.unlink()
    assert store.is_stale(plan) == f"{body} cannot be read any more (No such file or directory)"
    experiment.write_text(MINIMAL + "# another thought\n")
    assert store.is_stale(plan) == f"{experiment} has changed since the plan was made"
