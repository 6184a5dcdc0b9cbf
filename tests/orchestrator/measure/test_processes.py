"""Real runs with several requester processes on this machine: one trial, and nothing left of it however it ends."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pandas as pd
import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.processes import started_at
from orchestrator.measure import run as measure
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.workspace import Workspace
from tests.support.hosts import Told

pytestmark = [pytest.mark.alone, pytest.mark.busy]

HEAD = "name: tiny\nquestion: Does it run?\nstacks: tcp\noperations: [{echo: {bytes: 64 B}}]\nprocesses: 3\nseed: 1\n"
EXACT = ("completeness", "connections", "reply", "one stamp per sample")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def experiment(text: str) -> Path:
    path = Path("tiny.yaml")
    path.write_text(f"{HEAD}warmup: {{requests: 5, at_least: 0s}}\n{text}")
    return path


def run(text: str, told: Told | None = None) -> RunFolder:
    result = measure.start(
        make_plan(experiment(text)), Workspace(), command=["orch"], listener=told or Told(), share=True
    )
    return RunFolder(result.folder)


def assert_nothing_left(made: RunFolder) -> None:
    recorded = [e for e in made.events() if e["event"] == "process" and e["started"]]
    assert recorded
    deadline = time.monotonic() + 10.0
    while alive := [e["pid"] for e in recorded if started_at(e["pid"]) == e["started"]]:
        assert time.monotonic() < deadline, f"still running: {alive}"
        time.sleep(0.05)


def test_the_processes_of_a_trial_are_one_measurement() -> None:
    made = run("repeats: 1\nload: {concurrency: 7, requests: 350}\n")
    table = pd.read_parquet(made.path / "samples")
    measured = table[table["phase"] == 1]
    assert measured.groupby("process").size().to_dict() == {0: 150, 1: 100, 2: 100}
    assert measured.groupby("process")["connection"].nunique().to_dict() == {0: 3, 1: 2, 2: 2}
    (trial,) = made.manifest().trials
    assert [part.process for part in trial.requesters] == [0, 1, 2]
    assert trial.stats.answered == 350 + 3 * (5 + 2)  # each warms up, and checks identity and reply
    assert table[table["phase"] == 0]["received_ns"].max() < measured["sent_ns"].min()  # all were warm before any began
    summary = summarise(made)
    assert not [check for check in summary.checks if check.name == "in flight" and check.verdict == "fail"]
    assert {check.name: check.verdict for check in summary.checks if check.name in EXACT} == dict.fromkeys(
        EXACT, "pass"
    )
    assert summary.cells[0].requests == 350
    assert_nothing_left(made)


class Killing(Told):
    """Kills the second requester process of the first trial that is heard to measure."""

    is_done = False

    def live(self, text: str) -> None:
        super().live(text)
        if not self.is_done and ": measured " in text:
            made = RunFolder.open("latest", root=Path("results"), even_empty=True)
            *_, second, _third = [e["pid"] for e in made.events() if e["event"] == "process"]
            os.kill(second, signal.SIGKILL)
            self.is_done = True


@pytest.mark.slow
def test_a_process_that_is_killed_is_named_and_costs_its_own_trial() -> None:
    told = Killing()
    made = run("repeats: 2\nload: {concurrency: 3, duration: 2500ms}\n", told)
    first, second = made.journal_state().trials
    assert told.is_done
    assert (first.outcome, second.outcome) == ("failed", "ok")
    assert first.failure is not None
    assert first.failure.message == "requester process 2 of 3 on local died"
    assert_nothing_left(made)
