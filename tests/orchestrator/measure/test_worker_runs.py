"""Real runs with a responder of several workers on this machine: exact counts, and a trial that fails when one dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.processes import started_at
from orchestrator.measure import run as measure
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.workspace import Workspace
from tests.support.hosts import Told

pytestmark = [pytest.mark.alone, pytest.mark.busy, pytest.mark.slow]

HEAD = "name: tiny\nquestion: Does it run?\noperations: add\nworkers: 3\npin: 'off'\nseed: 1\n"
EXACT = ("completeness", "connections", "reply", "one stamp per sample", "CPU time")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(text: str, told: Told | None = None) -> RunFolder:
    path = Path("tiny.yaml")
    path.write_text(f"{HEAD}warmup: {{requests: 5, at_least: 0s}}\n{text}")
    result = measure.start(make_plan(path), Workspace(), command=["orch"], listener=told or Told(), share=True)
    return RunFolder(result.folder)


@pytest.mark.parametrize("stack", ["{protocol: rest, responder: starlette-granian}", "grpc"])
@pytest.mark.parametrize("connection", ["reuse", "per-request"])
def test_a_trial_counts_what_all_workers_did(stack: str, connection: str) -> None:
    made = run(f"stacks: {stack}\nconnection: {connection}\nrepeats: 1\nload: {{concurrency: 6, requests: 300}}\n")
    (trial,) = made.manifest().trials
    assert trial.ready is not None
    assert trial.stats is not None
    assert trial.stats.workers is not None
    assert (trial.ready.workers, len(trial.stats.workers)) == (3, 3)
    assert trial.stats.answered == sum(worker.answered for worker in trial.stats.workers) == 300 + 5 + 2
    checks = {check.name: check.verdict for check in summarise(made).checks if check.name in EXACT}
    assert checks == dict.fromkeys(EXACT, "pass")


class Killing(Told):
    """Kills a worker of the first trial that is heard to measure."""

    killed = 0

    def live(self, text: str) -> None:
        super().live(text)
        if not self.killed and ": measured " in text:
            made = RunFolder.open("latest", root=Path("results"), even_empty=True)
            head, _requester = [e["pid"] for e in made.events() if e["event"] == "process"][-2:]
            self.killed = int(Path(f"/proc/{head}/task/{head}/children").read_text().split()[1])
            self.workers = [int(pid) for pid in Path(f"/proc/{head}/task/{head}/children").read_text().split()]
            os.kill(self.killed, signal.SIGKILL)


def test_a_worker_that_is_killed_is_named_and_costs_its_own_trial() -> None:
    told = Killing()
    made = run(
        "stacks: {protocol: rest, responder: starlette-granian}\nrepeats: 2\nload: {concurrency: 3, duration: 2500ms}\n",
        told,
    )
    first, second = made.journal_state().trials
    assert told.killed
    assert (first.outcome, second.outcome) == ("failed", "ok")
    assert first.failure is not None
    assert first.failure.kind == "responder-died"
    assert "worker 2 of 3 died (killed by signal 9)" in first.failure.last_words
    assert not [pid for pid in told.workers if started_at(pid)]
