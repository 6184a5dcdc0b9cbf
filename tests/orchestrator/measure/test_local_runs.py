"""Real runs on this machine, through the program itself, and what is left of them when they are ended rudely."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from orchestrator.errors import InvalidMeasurement, MissingError, ProvisionError, TrialsFailed
from orchestrator.hosts.local.host import LocalDeployment
from orchestrator.hosts.processes import RUN_MARK, started_at
from orchestrator.measure import run as measure
from orchestrator.results.folder import RunFolder
from orchestrator.workspace import Workspace
from services.python.contract.lines import Load
from tests.support.hosts import Told
from tests.support.plans import plan

pytestmark = [pytest.mark.alone, pytest.mark.busy]

ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
PATIENCE_S = 90.0
COMPLETED = (0, 5)  # on a busy machine a check of the numbers may fail; what is tested here is the way to them

EXPERIMENT = """\
name: tiny
question: Does it run?
provider: local
stacks: [tcp]
operations: [{echo: {bytes: 64 B}}]
load: {concurrency: 1, duration: DURATION}
warmup: {requests: 5, at_least: 0s}
repeats: 2
seed: 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def orch(folder: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, duration: str = "1s") -> subprocess.Popen[str]:
        (folder / "tiny.yaml").write_text(EXPERIMENT.replace("DURATION", duration))
        process = subprocess.Popen(
            [*ORCH, *arguments], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def only_run(folder: Path) -> RunFolder:
    return RunFolder.open("latest", root=folder / "results")


class Ending(Told):
    """A listener that sends the newest responder a signal when the first trial is heard to measure."""

    def __init__(self, folder: Path, number: signal.Signals) -> None:
        super().__init__()
        self._folder, self._number = folder, number
        self.is_done = False

    def live(self, text: str) -> None:
        super().live(text)
        if not self.is_done and ": measured " in text:
            responder, _requester = [e["pid"] for e in only_run(self._folder).events() if e["event"] == "process"][-2:]
            os.kill(responder, self._number)
            self.is_done = True


def wait_for(folder: Path, enough: Callable[[list[dict[str, Any]]], bool]) -> None:
    """Until the run's journal says so."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if (folder / "results").exists() and any((folder / "results").iterdir()):
            run = next((folder / "results").iterdir())
            if enough(list(RunFolder(run).events())):
                return
        time.sleep(0.05)
    pytest.fail("the run did not get that far")


def is_measuring(events: list[dict[str, Any]], *, trials: int) -> bool:
    """So many trials are finished, and both ends of the next one have been started."""
    kinds = [e["event"] for e in events]
    if kinds.count("trial") != trials:
        return False
    last = max((place for place, kind in enumerate(kinds) if kind in ("trial", "block", "baseline")), default=0)
    return kinds.count("block") == trials + 1 and kinds[last] == "baseline" and kinds[last:].count("process") == 2


def assert_nothing_left(folder: Path) -> None:
    """Every process that the run recorded has ended, or ends now that its parent is gone."""
    recorded = [e for e in only_run(folder).events() if e["event"] == "process"]
    assert recorded
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline:
        alive = [e["pid"] for e in recorded if e["started"] and started_at(e["pid"]) == e["started"]]
        if not alive:
            return
        time.sleep(0.05)
    pytest.fail(f"still running: {alive}")


def test_a_run_leaves_samples_a_manifest_a_report_and_nothing_else(folder, orch):
    process = orch("run", "tiny.yaml", "--json", duration="300ms")
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode in COMPLETED, err
    document = json.loads(out)
    run = only_run(folder)
    assert document["run"] == run.id
    assert (folder / document["report"]).is_file()
    table = pd.read_parquet(run.path / "samples")
    assert sorted(table["block"].unique()) == [0, 1]
    manifest = run.manifest()
    assert manifest.state == "complete"
    assert all(t.outcome == "ok" and t.stats.peers >= 1 for t in manifest.trials)
    assert {b.moment for b in manifest.baselines} == {"before", "after"}
    assert json.loads((run.path / "receipt.json").read_text())["left"] == []
    assert not (run.path / "staging").exists()
    assert_nothing_left(folder)


def test_after_kill_9_finished_trials_are_kept_nothing_runs_and_resume_completes_the_schedule(folder, orch):
    process = orch("run", "tiny.yaml")
    wait_for(folder, lambda events: is_measuring(events, trials=1))
    process.kill()
    process.wait()
    assert_nothing_left(folder)
    assert [t.index for t in only_run(folder).manifest().trials] == [0]

    receipt, _ = orch("teardown").communicate(timeout=PATIENCE_S)
    assert "nothing left" in receipt.splitlines()[-1]

    resumed = orch("run", "--resume")
    _, err = resumed.communicate(timeout=PATIENCE_S)
    assert resumed.returncode in COMPLETED, err
    manifest = only_run(folder).manifest()
    assert manifest.state == "complete"
    assert [(t.index, t.attempt) for t in manifest.trials] == [(0, 0), (1, 1)]

    again = orch("run", "--resume")
    _, err = again.communicate(timeout=PATIENCE_S)
    assert again.returncode == 2
    assert "nothing to resume" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_signal_ends_the_run_in_order(folder, orch, number):
    process = orch("run", "tiny.yaml", duration="60s")
    wait_for(folder, lambda events: is_measuring(events, trials=0))
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "--resume" in err
    assert json.loads((only_run(folder).path / "manifest.json").read_text())["state"] == "interrupted"
    assert_nothing_left(folder)


def test_a_run_that_shares_the_machine_says_so(folder, orch):
    first = orch("run", "tiny.yaml", duration="3s")
    wait_for(folder, lambda events: is_measuring(events, trials=0))
    one = only_run(folder)
    second = orch("run", "tiny.yaml", "--share-machine", duration="300ms")
    _, err = second.communicate(timeout=PATIENCE_S)
    assert second.returncode in COMPLETED, err
    assert f"process {first.pid}" in err
    first.communicate(timeout=PATIENCE_S)
    (two,) = {path.name for path in (folder / "results").iterdir()} - {one.id}
    assert RunFolder(folder / "results" / two).manifest().shares_machine


def test_teardown_of_a_run_in_progress_ends_that_run(folder, orch):
    first = orch("run", "tiny.yaml", duration="60s")
    wait_for(folder, lambda events: is_measuring(events, trials=0))
    run = only_run(folder)
    ending = orch("teardown", run.id)
    out, err = ending.communicate(timeout=PATIENCE_S)
    assert ending.returncode == 0, err
    assert "nothing left" in out.splitlines()[-1]
    assert f"process {first.pid}" in err
    assert first.wait(PATIENCE_S) == 130
    assert run.manifest().state == "interrupted"
    assert_nothing_left(folder)


def test_teardown_after_a_kill_finds_a_child_in_a_session_of_its_own_and_spares_another_runs(folder, orch):
    process = orch("run", "tiny.yaml", duration="60s")
    wait_for(folder, lambda events: is_measuring(events, trials=0))
    process.kill()
    process.wait()
    run = only_run(folder).id
    sleep = ["sleep", "600"]
    with (
        subprocess.Popen(sleep, env={**os.environ, RUN_MARK: run}, start_new_session=True) as ours,
        subprocess.Popen(sleep, env={**os.environ, RUN_MARK: f"{run}0"}, start_new_session=True) as other,
    ):
        ending = orch("teardown")
        out, err = ending.communicate(timeout=PATIENCE_S)
        assert ending.returncode == 0, err
        assert "nothing left" in out.splitlines()[-1]
        assert ours.wait(10) == -signal.SIGTERM
        assert other.poll() is None
        other.kill()


def test_the_wall_time_ends_a_trial_that_would_go_on_and_on(folder, monkeypatch):
    """This trial alone would take ten minutes."""
    monkeypatch.chdir(folder)
    planned = plan("tcp", repeats=2)
    cell = replace(planned.cells[0], load=Load(duration_s=600.0))
    planned = replace(planned, cells=(cell,), limits=replace(planned.limits, wall_s=6.0))
    console = Told()
    result = measure.start(planned, Workspace(), command=["orch", "run"], listener=console)
    assert not result.is_complete
    assert any("limits.wall is used up" in text for text in console.warnings)
    assert RunFolder(result.folder).manifest().state == "interrupted"
    assert result.receipt.left == ()


@pytest.mark.parametrize("stage", ["provision", "deploy"])
def test_the_wall_time_ends_a_stage_in_which_nothing_is_read(folder, monkeypatch, stage):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(LocalDeployment, stage, lambda self: time.sleep(600))
    planned = plan("tcp")
    planned = replace(planned, limits=replace(planned.limits, wall_s=0.5))
    with pytest.raises(ProvisionError, match=r"limits\.wall \(0 s\) was used up while") as caught:
        measure.start(planned, Workspace(), command=["orch", "run"], listener=Told())
    assert caught.value.details["receipt"]["left"] == ()


def test_a_machine_that_lacks_something_leaves_no_run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def lacking(self: object) -> None:
        raise MissingError("no such thing here")

    monkeypatch.setattr(LocalDeployment, "provision", lacking)
    with pytest.raises(MissingError) as caught:
        measure.start(plan("tcp"), Workspace(), command=["orch", "run"], listener=Told())
    assert caught.value.details == {}
    assert list((folder / "results").iterdir()) == []


@pytest.mark.parametrize(
    ("number", "kind"), [(signal.SIGSTOP, "responder-hung"), (signal.SIGKILL, "responder-died")], ids=["hangs", "dies"]
)
def test_a_responder_that_stops_amid_a_trial_fails_that_trial_and_the_others_go_on(folder, monkeypatch, number, kind):
    """The signal goes to a real responder, as soon as its requester has told that it is measuring."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("orchestrator.measure.target.STATS_S", 1.0)
    planned = plan("tcp", repeats=2)
    cell = replace(planned.cells[0], load=Load(duration_s=2.5), timeout_s=1.0)
    console = Ending(folder, number)
    result = measure.start(replace(planned, cells=(cell,)), Workspace(), command=["orch", "run"], listener=console)
    assert console.is_done
    first, second = RunFolder(result.folder).manifest().trials
    assert (first.outcome, second.outcome) == ("failed", "ok")
    assert first.failure.kind == kind
    assert isinstance(result.error(), TrialsFailed | InvalidMeasurement)
    assert_nothing_left(folder)
