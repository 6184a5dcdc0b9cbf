"""A plan and its payloads as they are stored: what was changed since is refused."""

import hashlib
from pathlib import Path

import pytest

from orchestrator.catalogue.offers import Protocol
from orchestrator.errors import UsageError
from orchestrator.experiment import store
from orchestrator.experiment.plan.payloads import materialise
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL, Known, Write


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
    assert store.is_stale(plan) == f"{body.name} has changed since the plan was made"
    body.unlink()
    assert str(store.is_stale(plan)).startswith(f"{body}, a payload of the plan, cannot be read")
    experiment.write_text(MINIMAL + "# another thought\n")
    assert store.is_stale(plan) == f"{experiment} has changed since the plan was made"


REST = MINIMAL.replace("[rest, grpc]", "rest")


def test_a_generated_image_has_the_size_and_digest_of_the_plan(write: Write, known: Known, tmp_path: Path) -> None:
    plan = make_plan(write(REST.replace("timestamp", "image")), known=known)
    (path,) = materialise(plan, tmp_path / "payloads")
    content = path.read_bytes()
    assert len(content) == 1_580_000
    assert path.name == f"{plan.payload_files[0].sha256[:16]}-image-1.58mb.png"
    assert hashlib.sha256(content).hexdigest() == plan.payload_files[0].sha256


def test_a_payload_file_that_is_there_is_taken_only_with_the_right_content(
    write: Write, known: Known, tmp_path: Path
) -> None:
    plan = make_plan(write(REST.replace("timestamp", "{image: {bytes: 2 kB}}")), known=known)
    (path,) = materialise(plan, tmp_path / "payloads")
    right = path.read_bytes()
    path.write_text("another's")
    assert materialise(plan, tmp_path / "payloads") == [path]
    assert path.read_bytes() == right
