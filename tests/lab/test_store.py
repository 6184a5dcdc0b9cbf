"""PostgreSQL on a host of its own in the lab: installed offline, asked over the measured network, and what if it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.hosts.provision import deployments
from orchestrator.results.folder import RunFolder
from tests.support.lab import CACHE, MACHINE, ORCH, carriers, on_hosts

pytestmark = on_hosts(900)

EXPERIMENT = f"""\
name: store
question: What does a database on a host of its own add?
provider: lab
machine: {MACHINE}
placements:
  - {{name: near, from: us-central1-a, to: us-west1-a, rtt: 4ms}}
stacks: [rest]
operations: payment
store: [none, postgresql]
load: {{concurrency: 4, DURATION}}
warmup: {{requests: 5, at_least: 0s}}
repeats: 2
seed: 1
limits: {{wall: 10m, ttl: 15m}}
"""
PATIENCE_S = 400.0


@dataclass
class Run:
    """A working folder, and `orch run` in it."""

    folder: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, duration: str) -> None:
        (self.folder / "store.yaml").write_text(EXPERIMENT.replace("DURATION", duration))
        environment = {name: value for name, value in os.environ.items() if name != "ORCH_POSTGRESQL"}
        process = subprocess.Popen(
            [*ORCH, "run", "store.yaml"],
            cwd=self.folder,
            env={**environment, "ORCH_CACHE": str(CACHE)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)

    @property
    def run(self) -> RunFolder:
        return RunFolder(next((self.folder / "results").glob("*")))

    def await_(self, enough: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not enough():
            assert self.started[0].poll() is None, self.started[0].communicate()
            assert time.monotonic() < deadline, "it did not get that far"
            time.sleep(0.05)

    def is_reached(self, trials: int) -> bool:
        has_begun = any((self.folder / "results").glob("*/journal.jsonl"))
        return has_begun and sum(event["event"] == "trial" for event in self.run.events()) >= trials

    def servers(self) -> list[int]:
        """PostgreSQL's first processes on the store's host, as this machine counts them."""
        pids, mark = [], f"orch-{deployments.deployment_id(self.run.id)}-store-1"
        for path in Path("/proc").glob("[0-9]*"):
            try:
                words, group = (path / "cmdline").read_bytes().split(b"\0"), (path / "cgroup").read_text()
            except OSError:
                continue  # it has ended meanwhile
            if words[0].endswith(b"/postgres") and mark in group:
                pids.append(int(path.name))
        return pids


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made = Run(tmp_path)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.terminate()
        process.communicate()
    subprocess.run([*ORCH, "teardown"], cwd=tmp_path, capture_output=True, check=False)


def test_a_database_has_a_host_of_its_own_and_if_it_dies_its_cells_alone_fail(run: Run) -> None:
    run.start("duration: 2s")
    run.await_(lambda: run.is_reached(2))
    [secret] = run.folder.glob(".orch/deployments/*/keys/postgresql")
    password = secret.read_text()
    [server] = run.servers()
    arguments = Path(f"/proc/{server}/cmdline").read_bytes().split(b"\0")
    assert any(word.startswith(b"listen_addresses=") and word != b"listen_addresses=*" for word in arguments)
    os.kill(server, signal.SIGKILL)
    out, err = run.started[0].communicate(timeout=PATIENCE_S)
    assert run.started[0].returncode in (5, 7), err
    manifest = run.run.manifest()
    assert manifest.fleet["hosts"]["store-1"]["role"] == "store"
    assert len(manifest.trials) == 4
    stores = {cell.id: cell.factors["store"] for cell in run.run.plan().cells}
    failed = [trial for trial in manifest.trials if trial.outcome == "failed"]
    assert failed
    assert {stores[trial.cell] for trial in failed} == {"postgresql"}
    causes = [trial.failure for trial in run.run.journal_state().trials if trial.outcome == "failed"]
    assert all("the database" in str(cause) for cause in causes), causes
    assert {trial.outcome for trial in manifest.trials if trial not in failed} == {"ok"}
    assert [trial.outcome for trial in manifest.trials[:2]] == ["ok"] * 2, "before it died"
    assert "receipt (lab): 3 created, 3 destroyed, nothing left" in out + err
    assert carriers(deployments.deployment_id(run.run.id)) == []
    files = [path for path in run.folder.rglob("*") if path.is_file()]
    assert [path for path in files if password.encode() in path.read_bytes()] == []
