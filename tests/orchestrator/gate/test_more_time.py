"""Time that no alarm needs goes to what is undecided: runs are scripted, and nothing is started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.gate import arms
from orchestrator.gate.procedure import Gate
from orchestrator.gate.verdict import CallResult, Verdict
from orchestrator.workspace import Workspace
from tests.support.gates import LIMIT, a_call, a_row, repository
from tests.support.hosts import Told


def measured(file: Path, monkeypatch: pytest.MonkeyPatch, *runs: CallResult) -> tuple[Verdict, int]:
    """The verdict of a gate that measures this, one after the other, and how much of it it measured."""
    coming: Iterator[CallResult] = iter(runs)
    monkeypatch.setattr(Gate, "_call", lambda *_, **__: next(coming))
    experiment = arms.read(file, (), arms.without_git(file.parent, file.parent))
    gate = Gate(
        arms=experiment, limit=LIMIT, budget_s=300.0, workspace=Workspace(), listener=Told(), command=["orch", "gate"]
    )
    result = gate.measure()
    return result.verdict, len(runs) - len(list(coming))


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        ([a_call(a_row("not slower"))], "not slower"),
        ([a_call(a_row("undecided")), a_call(a_row("not slower"), run="r2")], "not slower"),
        ([a_call(blocks=0), a_call(a_row("not slower"), run="r2")], "not slower"),
        ([a_call(a_row("undecided")), a_call(a_row("slower"), run="r2")], "undecided"),  # no other run confirms it
        ([a_call(a_row("undecided")), a_call(a_row("undecided"))], "undecided"),
        ([a_call(a_row("slower")), a_call(a_row("slower"), run="r2")], "slower"),
    ],
)
def test_a_call_without_a_verdict_is_measured_on_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: list[CallResult], verdict: Verdict
) -> None:
    monkeypatch.chdir(tmp_path)
    assert measured(repository(tmp_path), monkeypatch, *runs) == (verdict, len(runs))
