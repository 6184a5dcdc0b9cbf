"""The program itself on hosts of the lab: whole runs, and runs that are killed, interrupted, starved and cut off.

Whatever happens, finished trials stay, the exit code says what it was, and `orch teardown` leaves nothing. That nothing
is left is not believed of the receipt: it is looked for on this machine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from orchestrator.hosts.provision import deployments
from orchestrator.hosts.provision.deployments import Registry
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import RequesterRecord
from orchestrator.workspace import Workspace
from services.python.load.phases import MEASURED
from tests.support.lab import CACHE, MACHINE, ORCH, RTT_MS, carriers, on_hosts

REGISTRY = Registry(Workspace().deployments)
pytestmark = on_hosts(400)

PATIENCE_S = 180.0
COMPLETED = (0, 5)  # on a busy machine a check of the numbers may fail; what is tested here is the way to them
NOTHING_LEFT = "receipt (lab): 2 created, 2 destroyed, nothing left"

EXPERIMENT = f"""\
name: tiny
question: Does it run?
provider: lab
machine: {MACHINE}
placements:
  - {{name: near, from: us-central1-a, to: us-west1-a, rtt: {RTT_MS:g}ms}}
stacks: [tcp]
operations: [{{echo: {{bytes: 64 B}}}}]
load: {{concurrency: 2, duration: DURATION}}
warmup: {{requests: 5, at_least: 0s}}
repeats: 2
seed: 1
limits: {{wall: 10m, ttl: 15m}}
"""

# Where orch ends itself with SIGKILL: the function, the call of it, and how long after that.
DEATHS = {
    "measure": ("orchestrator.measure.blocks:Measuring._made", 2, 0.4),
    "teardown": ("orchestrator.hosts.provision.terraform:Terraform.destroy", 1, 0.2),
}

DYING = """\
import importlib, os, signal, sys, threading
place, call, delay = sys.argv.pop(1), int(sys.argv.pop(1)), float(sys.argv.pop(1))
module, _, path = place.partition(":")
owner = importlib.import_module(module)
*owners, name = path.split(".")
for part in owners:
    owner = getattr(owner, part)
original, calls = getattr(owner, name), []
def die():
    os.kill(os.getpid(), signal.SIGKILL)
def dying(*arguments, **options):
    calls.append(name)
    if len(calls) == call:
        threading.Timer(delay, die).start() if delay else die()
    return original(*arguments, **options)
setattr(owner, name, dying)
from orchestrator.cli.main import main
main()
"""


@dataclass
class Lab:
    """A working folder with an experiment, and the program run in it."""

    folder: Path
    environment: dict[str, str]
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *arguments: str, program: list[str] | None = None, **options: Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*(program or ORCH), *arguments],
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        self.started.append(process)
        return process

    def orch(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=PATIENCE_S)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def orch_that_dies(self, stage: str, *arguments: str) -> None:
        place, call, delay_s = DEATHS[stage]
        done = self.orch(*arguments, program=[sys.executable, "-c", DYING, place, str(call), str(delay_s)])
        assert done.returncode == -signal.SIGKILL, done.stderr

    def write(self, *, duration: str = "400ms", **lines: str) -> None:
        more = "".join(f"{key}: {value}\n" for key, value in lines.items())
        (self.folder / "tiny.yaml").write_text(EXPERIMENT.replace("DURATION", duration) + more)

    @property
    def runs(self) -> list[RunFolder]:
        return [RunFolder(path) for path in sorted((self.folder / "results").glob("*"))]

    @property
    def run(self) -> RunFolder:
        return self.runs[-1]

    @property
    def id(self) -> str:
        return deployments.deployment_id(self.run.id)

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.run.events() if event["event"] == kind]

    def wait_for(self, process: subprocess.Popen[str], enough: Callable[[], bool]) -> None:
        """Until it is so, while the program goes on."""
        deadline = time.monotonic() + PATIENCE_S
        while not enough():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "it did not get that far"
            time.sleep(0.02)

    def wait_for_trial(self, process: subprocess.Popen[str]) -> None:
        """Until one trial is finished and the next one measures."""
        self.wait_for(process, lambda: bool(self.runs) and any(map(is_second_floor, self.events("baseline"))))
        assert len(self.events("trial")) == 1
        self.wait_for(process, lambda: bool(self.pids("services.python.programs.request", "requester-1")))

    def pids(self, word: str, host: str) -> list[int]:
        """Processes of a host with that word in their command line, as this machine counts them."""
        pids = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                group = (path / "cgroup").read_text()
            except OSError:
                continue  # it has ended meanwhile
            if word in line and f"orch-{self.id}-{host}" in group:
                pids.append(int(path.name))
        return pids

    def host_record(self, name: str) -> dict[str, Any]:
        return json.loads(Path(f"/var/lib/orch-lab/{self.id}/hosts/{name}/host.json").read_text())

    def on_host(self, name: str, *command: str) -> None:
        enter = ["nsenter", f"--target={self.host_record(name)['first']['pid']}", "--mount", "--pid", "--net", "--"]
        subprocess.run([*enter, *command], check=True)

    def standing(self) -> list[dict[str, Any]]:
        return json.loads(self.orch("status", "--json").stdout)["deployments"]

    def assert_nothing_left(self) -> None:
        for run in self.runs:
            assert carriers(deployments.deployment_id(run.id)) == []

    def assert_teardown_leaves_nothing(self) -> None:
        done = self.orch("teardown")
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1].endswith("nothing left")
        self.assert_nothing_left()


def is_second_floor(event: dict[str, Any]) -> bool:
    """The last look before the second block's only trial."""
    baseline = event["baseline"]
    return bool(baseline["block"] == 1 and baseline["kind"] == "tcp" and baseline["moment"] == "before")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    (tmp_path / "lab").mkdir()
    made = Lab(tmp_path / "lab", {**os.environ, "ORCH_CACHE": str(CACHE)})
    made.write()
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()
    for run in made.runs:
        made.orch("teardown", run.id)


def test_a_run_killed_while_taking_down_beside_a_deployment_that_is_kept_leaves_nothing(lab: Lab) -> None:
    kept = lab.orch("run", "tiny.yaml", "--keep")
    assert kept.returncode in COMPLETED, kept.stderr
    first = lab.run
    assert "hosts stay up until 20" in kept.stderr
    assert f"end them with `orch teardown {first.id}`" in kept.stderr
    assert lab.orch("ssh", "requester-1", "--", "hostname").stdout == f"orch-{lab.id}-requester-1\n"
    assert lab.orch("ssh", "requester-1", "--", "exit 3").returncode == 3
    assert lab.orch("ssh", "requester-9", "--", "true").returncode == 2
    before = lab.standing()
    assert [d["run"] for d in before] == [first.id]
    assert all(host["alive"] for host in before[0]["hosts"].values())
    assert before[0]["cost"] == "no cost"

    lab.write(requesters="2")
    lab.orch_that_dies("teardown", "run", "tiny.yaml")
    assert {d["run"] for d in lab.standing()} == {first.id, lab.run.id}
    ended = lab.orch("teardown", lab.run.id)
    assert ended.returncode == 0, ended.stderr
    assert carriers(lab.id) == []
    assert json.loads((lab.run.path / "receipt.json").read_text())["left"] == []
    assert [d["hosts"] for d in lab.standing()] == [before[0]["hosts"]]
    assert lab.orch("run", "--resume").returncode == 2  # it is complete

    table = pd.read_parquet(lab.run.path / "samples")
    assert set(table["requester"].unique()) == {"requester-1", "requester-2"}
    trials = lab.run.manifest().trials
    assert len(trials) == 2
    for trial in trials:
        assert [part.host for part in trial.requesters] == ["requester-1", "requester-2"]
        windows_ns = [first_and_last_ns(lab.run, part) for part in trial.requesters]
        assert max(first for first, _ in windows_ns) < min(last for _, last in windows_ns), "not at the same time"

    lab.assert_teardown_leaves_nothing()
    assert lab.orch("teardown").stdout == "nothing is up\n"
    assert lab.orch("status").stdout.startswith("nothing is up")


def test_of_two_requesters_one_that_is_killed_voids_its_trial_and_a_host_that_is_cut_off_ends_the_run(lab: Lab) -> None:
    lab.write(duration="3s", requesters="2")
    process = lab.start("run", "tiny.yaml", "--set", "repeats=3")
    lab.wait_for_trial(process)
    lab.wait_for(process, lambda: bool(lab.pids("services.python.programs.request", "requester-2")))
    (asking,) = lab.pids("services.python.programs.request", "requester-2")
    os.kill(asking, signal.SIGKILL)
    lab.wait_for(process, lambda: len(lab.events("trial")) == 2)
    os.kill(lab.host_record("requester-2")["first"]["pid"], signal.SIGKILL)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 4, err
    assert "requester-2" in err.split("error:")[1]
    assert "finished blocks are kept" in err
    lab.assert_nothing_left()
    first, second, *others = lab.run.journal_state().trials
    assert (first.outcome, second.outcome) == ("ok", "failed")
    assert (second.failure.kind, second.failure.message) == ("requester-died", "the requester on requester-2 died")
    assert all(part.samples is None for part in second.requesters)
    assert all(trial.outcome == "failed" for trial in others)


def first_and_last_ns(run: RunFolder, part: RequesterRecord) -> tuple[int, int]:
    """When a requester's measured phase began and ended, in Unix time."""
    columns = run.samples(part.samples, ["phase", "sent_ns", "received_ns"])
    measured = columns["phase"] == MEASURED
    anchor = part.done.anchor
    to_wall_ns = anchor.wall_ns - anchor.monotonic_ns
    sent_ns, received_ns = columns["sent_ns"][measured], columns["received_ns"][measured]
    return int(sent_ns.min()) + to_wall_ns, int(received_ns.max()) + to_wall_ns


def test_killed_while_measuring_a_run_goes_on_with_its_schedule(lab: Lab) -> None:
    lab.orch_that_dies("measure", "run", "tiny.yaml")
    wanted = [(t.index, t.cell, t.seed) for t in lab.run.plan().trials]
    assert len(lab.events("trial")) == 1
    shutil.move(lab.run.path, lab.folder / "aside")
    lab.assert_teardown_leaves_nothing()  # from the intent alone: the run's folder is gone
    shutil.move(lab.folder / "aside", lab.folder / "results" / "aside")
    (lab.folder / "results" / "aside").rename(lab.folder / "results" / lab.events("begin")[0]["run_id"])
    done = lab.orch("run", "--resume")
    assert done.returncode in COMPLETED, done.stderr
    assert NOTHING_LEFT in done.stderr
    lab.assert_nothing_left()
    manifest = lab.run.manifest()
    assert manifest.state == "complete"
    assert [(t.index, t.cell, t.seed) for t in lab.run.plan().trials] == wanted
    assert [t.index for t in manifest.trials] == [0, 1]
    assert sorted(pd.read_parquet(lab.run.path / "samples")["block"].unique()) == [0, 1]


def test_ctrl_c_while_hosts_are_made_reaches_terraform_once_and_leaves_nothing(lab: Lab) -> None:
    process = lab.start("run", "tiny.yaml", start_new_session=True)
    lab.wait_for(process, lambda: bool(lab.runs) and "Creating..." in lab_log(lab, "terraform-apply.log"))
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert lab_log(lab, "terraform-apply.log").count("Interrupt received") == 1
    assert "Two interrupts received" not in lab_log(lab, "terraform-apply.log")
    assert json.loads((lab.run.path / "receipt.json").read_text())["left"] == []
    lab.assert_nothing_left()


def lab_log(lab: Lab, name: str) -> str:
    path = lab.folder / REGISTRY.folder_of(lab.id) / "logs" / name
    return path.read_text() if path.exists() else ""


def test_a_link_that_dies_in_the_middle_of_a_trial_is_named_and_mended_by_resume(lab: Lab) -> None:
    lab.write(duration="3s")
    process = lab.start("run", "tiny.yaml", "--keep")
    lab.wait_for_trial(process)
    record = json.loads(Path(f"/var/lib/orch-lab/{lab.id}/link/link.json").read_text())
    if record["kind"] != "user-space":
        pytest.skip("netem has no process that could die")
    emulator = json.loads(Path(f"/var/lib/orch-lab/{lab.id}/link/process.json").read_text())["emulator"]
    os.kill(emulator["pid"], signal.SIGKILL)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 4, err
    assert "the link between the hosts" in err
    done = lab.orch("run", "--resume")
    assert done.returncode in COMPLETED, done.stderr
    lab.assert_nothing_left()
    assert [t.outcome for t in lab.run.manifest().trials] == ["ok", "ok"]


def test_a_disk_that_fills_and_a_responder_that_dies_cost_their_trials_alone(lab: Lab) -> None:
    lab.write(duration="3s")
    process = lab.start("run", "tiny.yaml", "--set", "repeats=3")
    lab.wait_for_trial(process)
    (responder,) = lab.pids("services.python.programs.respond", "responder-1")
    os.kill(responder, signal.SIGKILL)
    lab.wait_for(process, lambda: len(lab.events("trial")) == 2)
    workspace = f"/var/tmp/orch/{lab.run.id}"
    lab.on_host("requester-1", "mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", workspace)
    lab.on_host("requester-1", "dd", "if=/dev/zero", f"of={workspace}/filler", "bs=4k", "count=1", "status=none")
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 7, err
    lab.assert_nothing_left()
    first, second, third = lab.run.journal_state().trials
    assert first.outcome == "ok"
    assert second.failure.kind in ("responder-died", "refused", "reset", "connection")
    assert "No space left" in third.failure.message
