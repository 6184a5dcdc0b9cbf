"""Gates for real: a slow head, and heads and bases with which nothing is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import MissingError, OrchError, UsageError
from orchestrator.gate import arms
from orchestrator.gate.procedure import Gate
from orchestrator.workspace import Workspace
from tests.support.gates import change, commit, repository
from tests.support.hosts import Told
from tests.support.wire import free_port

pytestmark = [pytest.mark.alone, pytest.mark.busy]

SERVE = "HTTPServer(("


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return repository(tmp_path)


def a_gate(experiment: arms.Arms, budget_s: float = 300.0) -> Gate:
    return Gate(
        arms=experiment, limit=0.05, budget_s=budget_s, workspace=Workspace(), listener=Told(), command=["orch", "gate"]
    )


@pytest.mark.timeout(400)  # two runs, beside other tests
def test_a_head_that_sleeps_is_slower_in_two_runs(file: Path, tmp_path: Path) -> None:
    change(tmp_path, "        content =", "        time.sleep(0.02)\n        content =")
    with arms.commits(file, "HEAD", ".", Workspace().state) as sides:
        gate = a_gate(arms.read(file, (), sides))
        gate.prepare()
        result = gate.measure()
    assert result.verdict == "slower"
    assert result.head.changed == ("app/serve.py",)
    worst = result.rows[0]
    assert (worst.again, worst.is_decisive) == ("slower", True)
    assert worst.row.ratio is not None
    assert worst.row.ratio > 1.05
    assert len(result.runs) == 2
    assert all(run.noise is not None for run in result.runs)


FAULTS = {
    "another answer": (
        "        self.send_response",
        '        content = content.replace(b"2", b"7")\n        self.send_response',
    ),
    "no start": (SERVE, f'sys.exit("no database")\n{SERVE}'),
    "the time": ('{"total": int', '{"total": time.time() + int'),
}


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        ("another answer", UsageError, "order-base answers total with 2, order-head with 7 (row 2)"),
        ("no start", MissingError, "order-head does not answer: the service ended before it was ready"),
    ],
)
def test_a_head_that_does_other_work_or_none_is_said_before_anything_is_measured(
    file: Path, tmp_path: Path, fault: str, error: type[OrchError], words: str
) -> None:
    change(tmp_path, *FAULTS[fault])
    with arms.commits(file, "HEAD", ".", Workspace().state) as sides, pytest.raises(error) as raised:
        a_gate(arms.read(file, (), sides)).prepare()
    assert words in raised.value.message
    assert not Workspace().results.exists()


def test_a_value_that_base_itself_answers_differently_is_named(file: Path, tmp_path: Path) -> None:
    change(tmp_path, *FAULTS["the time"])
    commit(tmp_path)
    with arms.commits(file, "HEAD", ".", Workspace().state) as sides, pytest.raises(UsageError) as raised:
        a_gate(arms.read(file, (), sides)).prepare()
    assert "order-base-again" in raised.value.message
    assert "leave it out of `same`" in str(raised.value.hint)


def test_a_port_that_two_versions_need_is_said(file: Path, tmp_path: Path) -> None:
    change(tmp_path, SERVE, f'other = HTTPServer(("127.0.0.1", {free_port()}), Handler)\n{SERVE}')
    commit(tmp_path)
    with arms.commits(file, "HEAD", ".", Workspace().state) as sides, pytest.raises(MissingError, match="in use"):
        a_gate(arms.read(file, (), sides)).prepare()


def test_a_base_that_does_not_build_is_shown_with_its_words(file: Path, tmp_path: Path) -> None:
    file.write_text(file.read_text().replace("folder: ../app", "folder: ../app, build: sh build.sh"))
    (tmp_path / "app" / "build.sh").write_text("echo no rule to make it >&2; exit 3")
    commit(tmp_path)
    (tmp_path / "app" / "build.sh").write_text("true")
    with arms.commits(file, "HEAD", ".", Workspace().state) as sides, pytest.raises(MissingError) as raised:
        a_gate(arms.read(file, (), sides)).prepare()
    assert raised.value.message.startswith("order-base does not build:")
    assert "no rule to make it" in raised.value.message


def test_a_gate_without_time_for_a_block_is_undecided(file: Path) -> None:
    gate = a_gate(arms.read(file, (), arms.without_git(file.parent, file.parent)), budget_s=1.0)
    result = gate.measure()
    assert result.verdict == "undecided"
