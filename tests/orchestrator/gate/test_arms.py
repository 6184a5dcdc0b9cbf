"""Of an experiment and two versions become plans with base, base again, and head, from git or folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import UsageError
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.gate import arms
from orchestrator.gate.arms import AGAIN, BASE, HEAD
from tests.support.gates import change, commit, git, repository

LIMIT = 0.05


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return repository(tmp_path)


def test_each_version_is_checked_out_by_itself_and_removed_at_the_end(file: Path, tmp_path: Path) -> None:
    change(tmp_path, "Content-Length", "content-length")
    commit(tmp_path)
    with arms.commits(file, "main~1", "main", tmp_path / "state") as sides:
        assert len({side.folder for side in sides.values()}) == 3
        texts = {arm: (side.folder.parent / "app" / "serve.py").read_text() for arm, side in sides.items()}
        assert texts[BASE] == texts[AGAIN] != texts[HEAD]
        assert all(side.folder.is_relative_to(tmp_path / "state") for side in sides.values())
    assert list((tmp_path / "state").iterdir()) == []
    assert len(git(tmp_path, "worktree", "list").splitlines()) == 1


def test_the_working_folder_is_head_as_it_is_and_its_changes_are_named(file: Path, tmp_path: Path) -> None:
    change(tmp_path, "Content-Length", "content-length")
    with arms.commits(file, "HEAD", ".", tmp_path / "state") as sides:
        assert sides[HEAD].folder == file.parent.resolve()
        assert sides[HEAD].changed == ("app/serve.py",)
        assert sides[HEAD].commit == sides[BASE].commit


def test_a_run_compares_head_with_base_and_has_base_again_as_its_control(file: Path, tmp_path: Path) -> None:
    with arms.commits(file, "HEAD", ".", tmp_path / "state") as sides:
        experiment = arms.read(file, (), sides)
        first = experiment.to_measure(0, LIMIT, 60)
        again = experiment.to_measure(0, LIMIT, 60, is_confirming=True)
    labels = {stack.id: stack.label for stack in first.stacks}
    assert [(labels[p.cell.stack], labels[p.reference.stack], p.is_control) for p in pairs(first)] == [
        ("order-head", "order-base", False),
        ("order-base-again", "order-base", True),
    ]
    folders = {stack.external.start.folder for stack in first.stacks if stack.external and stack.external.start}
    assert len(folders) == 3
    assert [stack.label for stack in again.stacks] == [stack.label for stack in first.stacks][::-1]
    assert again.seed != first.seed
    assert first.until is not None
    assert first.until.or_slower
    assert (1 + first.until.within) ** 2 == pytest.approx(1 + LIMIT, abs=1e-5)


def test_what_is_measured_is_built_and_compared_before(tmp_path: Path) -> None:
    file = repository(tmp_path)
    file.write_text(file.read_text().replace("folder: ../app", "folder: ../app, build: make"))
    experiment = arms.read(file, (), arms.without_git(file.parent, file.parent))
    assert [s.external.start.build for s in experiment.to_build().stacks if s.external and s.external.start] == [
        ("make",)
    ] * 3
    measured = [stack.external for stack in experiment.to_measure(0, LIMIT, 60).stacks]
    assert [(e.start.build, e.call["same"]) for e in measured if e and e.start] == [((), {})] * 3


@pytest.mark.parametrize(
    ("old", "new", "refusal"),
    [
        ('{start: "{python} serve.py {port}", folder: ../app}', "{url: 'http://localhost:1'}", "without a service"),
        ("folder: ../app", "folder: ../lost", "has no folder ../lost"),
        ("service: shop, call", "service: shop, client: [pycurl, httpx], call", "several clients"),
        ("stacks:\n", 'stacks:\n  - {name: order, service: shop, call: {http: "GET /1"}}\n', "have one name"),
        ("name: shop\n", "name: shop\nprovider: lab\n", "on this machine"),
    ],
)
def test_an_experiment_that_a_gate_cannot_measure_is_refused(file: Path, old: str, new: str, refusal: str) -> None:
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(UsageError, match=refusal):
        arms.read(file, (), arms.without_git(file.parent, file.parent)).to_build()


def test_git_that_knows_no_such_commit_or_no_repository_is_said(file: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no commit 'nowhere'"), arms.commits(file, "nowhere", ".", tmp_path / "state"):
        pass
    outside = tmp_path / "ci" / "orch.yaml"
    (tmp_path / ".git").rename(tmp_path / "elsewhere")
    with (
        pytest.raises(UsageError, match="in no git repository"),
        arms.commits(outside, "HEAD", ".", tmp_path / "state"),
    ):
        pass
