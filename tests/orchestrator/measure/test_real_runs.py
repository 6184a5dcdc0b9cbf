"""Real runs on this machine of each kind of work: exact counts, what rows say, and trials of which a process dies."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from orchestrator.checks.ends.cpu_time import MOST_IDLE
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.processes import started_at
from orchestrator.measure import run as measure
from orchestrator.results.folder import RunFolder
from orchestrator.results.turn_times import REST_S
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import explanation
from orchestrator.workspace import Workspace
from tests.support.hosts import Told

pytestmark = [pytest.mark.alone, pytest.mark.busy]

EXACT = ("completeness", "connections", "reply")
SERVICE = Path(__file__).parents[3] / "benchmarks" / "harness" / "work_service.py"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(text: str, console: Told | None = None) -> RunFolder:
    path = Path("tiny.yaml")
    path.write_text(f"name: tiny\nquestion: Does it run?\nseed: 1\nwarmup: {{requests: 5, at_least: 0s}}\n{text}")
    listener = console or Told()
    return RunFolder(
        measure.start(make_plan(path), Workspace(), command=["orch"], listener=listener, share=True).folder
    )


def not_passed(run_folder: RunFolder, *more: str) -> dict[str, str]:
    """The checks of exact counts that did not pass."""
    checks = {check.name: check.verdict for check in summarise(run_folder).checks if check.name in (*EXACT, *more)}
    return {name: verdict for name, verdict in checks.items() if verdict not in ("pass", "not applicable")}


def assert_ended(pids: list[int], starts: list[str | None]) -> None:
    deadline = time.monotonic() + 10.0
    while alive := [pid for pid, start in zip(pids, starts, strict=True) if start and started_at(pid) == start]:
        assert time.monotonic() < deadline, f"still running: {alive}"
        time.sleep(0.05)


class Killing(Told):
    """Kills a process of the first trial that is heard to measure: which one, `choose` says by the ids of all so far."""

    def __init__(self, choose: Callable[[list[int]], int]) -> None:
        super().__init__()
        self._choose = choose
        self.killed = 0

    def live(self, text: str) -> None:
        super().live(text)
        if not self.killed and ": measured " in text:
            events = RunFolder.open("latest", root=Path("results")).events()
            self.killed = self._choose([event["pid"] for event in events if event["event"] == "process"])
            os.kill(self.killed, signal.SIGKILL)


PROCESSES = "stacks: tcp\noperations: [{echo: {bytes: 64 B}}]\nprocesses: 3\n"


def test_the_processes_of_a_trial_are_one_measurement() -> None:
    measured_run = run(f"{PROCESSES}repeats: 1\nload: {{concurrency: 7, requests: 350}}\n")
    table = pd.read_parquet(measured_run.path / "samples")
    measured = table[table["phase"] == 1]
    assert measured.groupby("process").size().to_dict() == {0: 150, 1: 100, 2: 100}
    assert measured.groupby("process")["connection"].nunique().to_dict() == {0: 3, 1: 2, 2: 2}
    (trial,) = measured_run.manifest().trials
    assert [part.process for part in trial.requesters] == [0, 1, 2]
    assert trial.stats.answered == 350 + 3 * (5 + 2)  # each warms up, and checks identity and reply
    assert table[table["phase"] == 0]["received_ns"].max() < measured["sent_ns"].min()  # all were warm before any began
    assert not_passed(measured_run) == {}
    assert summarise(measured_run).cells[0].counts.requests == 350


@pytest.mark.slow
def test_a_process_that_is_killed_is_named_and_costs_its_own_trial() -> None:
    killing = Killing(lambda pids: pids[-2])
    ended = run(f"{PROCESSES}repeats: 2\nload: {{concurrency: 3, duration: 2500ms}}\n", killing)
    first, second = ended.journal_state().trials
    assert (bool(killing.killed), first.outcome, second.outcome) == (True, "failed", "ok")
    assert first.failure.message == "requester process 2 of 3 on local died"
    processes = [event for event in ended.events() if event["event"] == "process"]
    assert_ended([event["pid"] for event in processes], [event["started"] for event in processes])


WORKERS = "operations: add\nworkers: 3\npin: 'off'\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stack", "connection"), [("{protocol: rest, responder: starlette-granian}", "reuse"), ("grpc", "per-request")]
)
def test_a_trial_counts_what_all_workers_did(stack: str, connection: str) -> None:
    load = "repeats: 1\nload: {concurrency: 6, requests: 300}\n"
    measured = run(f"{WORKERS}stacks: {stack}\nconnection: {connection}\n{load}")
    (trial,) = measured.manifest().trials
    assert (trial.ready.workers, len(trial.stats.workers)) == (3, 3)
    assert trial.stats.answered == sum(worker.answered for worker in trial.stats.workers) == 300 + 5 + 2
    assert not_passed(measured, "CPU time") == {}


@pytest.mark.slow
def test_a_worker_that_is_killed_is_named_and_costs_its_own_trial() -> None:
    workers: list[int] = []

    def second_worker(pids: list[int]) -> int:
        head = pids[-2]
        workers.extend(int(pid) for pid in Path(f"/proc/{head}/task/{head}/children").read_text().split())
        return workers[1]

    killing = Killing(second_worker)
    load = "repeats: 2\nload: {concurrency: 3, duration: 2500ms}\n"
    ended = run(f"{WORKERS}stacks: {{protocol: rest, responder: starlette-granian}}\n{load}", killing)
    first, second = ended.journal_state().trials
    assert (bool(killing.killed), first.outcome, second.outcome) == (True, "failed", "ok")
    assert first.failure.kind == "responder-died"
    assert "worker 2 of 3 died (killed by signal 9)" in first.failure.last_words
    assert not [pid for pid in workers if started_at(pid)]


CODECS = """\
stacks: [{protocol: http+json, client: [stdlib, orjson]}]
operations: [add, {echo: {records: 3}}]
load: {requests: 300}
repeats: 3
"""


def test_codecs_alone_have_no_responder_no_floor_and_parts_in_their_samples() -> None:
    measured = run(CODECS)
    cells, manifest = summarise(measured).cells, measured.manifest()
    assert {tuple(part.name for part in cell.details.parts) for cell in cells} == {("encode", "decode")}
    assert manifest.baselines == ()
    assert all(trial.ready is trial.stats is None for trial in manifest.trials)
    samples = pd.read_parquet(measured.path / "samples")
    assert dict(samples["kind"].value_counts()) == {2: 2 * 4 * 3 * 305, 4: 4 * 3 * 305}
    assert set(samples["policy"]) == set(samples["compression"]) == {"n/a"}
    of_records = {cell.sizes.body for cell in cells if cell.labels.operation == "echo 3 records"}
    assert len(of_records) == 1, "both libraries wrote the same messages"


COMMAND = "{python} work_service.py --address {address} --port {port} --rounds 100"
SERVICES = {"quiet": COMMAND, "poller": f"{COMMAND} --poll 0.3", "slow": f"{COMMAND} --sleep-ms 4"}


def test_in_turns_a_poller_is_named_slow_requests_get_longer_turns_and_floors_take_turns() -> None:
    shutil.copy(SERVICE, Path())
    services = "".join(f'  {name}: {{start: "{command}", folder: .}}\n' for name, command in SERVICES.items())
    call = 'call: {http: "GET /", expect: {status: 200}}'
    stacks = "".join(f"  - {{name: {name}, service: {name}, {call}}}\n" for name in SERVICES)
    measured = run(f"services:\n{services}stacks:\n{stacks}load: {{duration: 200ms}}\nrepeats: 3\n")
    manifest, quiet, poller, slow = measured.manifest(), *(cell.id for cell in measured.plan().cells)

    used = {cell: [t.rest_cpu_s or 0.0 for t in manifest.trials if t.cell == cell] for cell in (quiet, poller)}
    assert max(used[quiet]) < MOST_IDLE * REST_S < min(used[poller])
    assert {c.cell for c in summarise(measured).checks if c.name == "CPU time" and "idle" in explanation(c)} >= {poller}

    lengths = {t.cell: None if t.fitted_turns is None else t.fitted_turns.length_s for t in manifest.trials}
    assert lengths[quiet] in (None, 0.01)
    assert (lengths[slow] or 0.0) >= 0.08

    looks = {(baseline.kind, baseline.moment) for baseline in manifest.baselines}
    assert looks == {("ping", "before"), ("tcp", "during"), ("ping", "after")}
    assert {cell for baseline in manifest.baselines for cell in baseline.cells} == {quiet, poller, slow}
