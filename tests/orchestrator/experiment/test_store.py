"""A plan and its payloads as they are stored: what was changed since is refused."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.catalogue.offers import Protocol
from orchestrator.errors import UsageError
from orchestrator.experiment import store
from orchestrator.experiment.plan.payloads import materialise
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
    assert store.is_stale(plan) == f"{body.name} has changed since the plan was made"
    body.unlink()
    assert str(store.is_stale(plan)).startswith(f"{body}, a payload of the plan, cannot be read")
    experiment.write_text(MINIMAL + "# another thought\n")
    assert store.is_stale(plan) == f"{experiment} has changed since the plan was made"


Known = dict[str, Protocol]
REST = MINIMAL.replace("[rest, grpc]", "rest")


def test_payloads_are_what_the_process_contract_says(write: Write, known: Known) -> None:
    operations = "[add, {echo: {bytes: 10 kB}}, {echo: {records: 3}}, {image: {bytes: 2 kB, decode: full}}]"
    plan = make_plan(write(REST.replace("timestamp", operations)), known=known)
    digest = plan.payload_files[0].sha256
    assert [(o.label, o.payload) for o in plan.operations] == [
        ("add", {"kind": "none"}),
        ("echo 10 kB", {"kind": "bytes", "size": 10_000}),
        ("echo 3 records", {"kind": "records", "count": 3}),
        ("image 2 kB, full decode", {"kind": "image", "size": 2000, "sha256": digest, "full_decode": True}),
    ]


def test_a_generated_image_has_the_size_and_digest_of_the_plan(write: Write, known: Known, tmp_path: Path) -> None:
    plan = make_plan(write(REST.replace("timestamp", "image")), known=known)
    (path,) = materialise(plan, tmp_path / "payloads")
    content = path.read_bytes()
    assert len(content) == 1_580_000
    assert path.name == f"{plan.payload_files[0].sha256[:16]}-image-1.58mb.png"
    assert hashlib.sha256(content).hexdigest() == plan.payload_files[0].sha256


def test_a_file_that_changed_since_is_refused(write: Write, known: Known, tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text("1")
    plan = make_plan(write(REST.replace("timestamp", "{echo: {json: body.json}}")), known=known)
    (tmp_path / "body.json").write_text("2")
    with pytest.raises(UsageError, match=r"body\.json has changed since the plan was made"):
        materialise(plan, tmp_path / "payloads")
    (tmp_path / "body.json").unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        materialise(plan, tmp_path / "payloads")


@pytest.mark.parametrize("is_link", [True, False])
def test_a_payload_file_that_is_there_is_taken_only_with_the_right_content(
    write: Write, known: Known, tmp_path: Path, *, is_link: bool
) -> None:
    plan = make_plan(write(REST.replace("timestamp", "{image: {bytes: 2 kB}}")), known=known)
    (path,) = materialise(plan, tmp_path / "payloads")
    right, precious = path.read_bytes(), tmp_path / "precious"
    precious.write_text("mine")
    path.unlink()
    if is_link:
        path.symlink_to(precious)
    else:
        path.write_text("another's")
    partial = path.with_name(f"{path.name}.partial")
    partial.symlink_to(precious)
    assert materialise(plan, tmp_path / "payloads") == [path]
    assert path.read_bytes() == right
    assert not path.is_symlink()
    assert precious.read_text() == "mine"
