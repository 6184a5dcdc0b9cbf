from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from orchestrator.experiment.plan.plan import Placement
from orchestrator.hosts.local.host import LocalDeployment, LocalHost
from orchestrator.hosts.local.process import LocalProcess
from orchestrator.hosts.processes import started_at
from orchestrator.measure.teardown import open_deployment
from orchestrator.results.folder import RunFolder
from orchestrator.workspace import Workspace
from tests.support.plans import plan

pytestmark = pytest.mark.busy

SLEEPER = [sys.executable, "-c", "import sys; print('up', flush=True); sys.stdin.read()"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    monkeypatch.chdir(tmp_path)
    return RunFolder.create(plan(), command=["orch", "run"], root=tmp_path / "results")


@pytest.fixture
def host(tmp_path: Path):
    made = LocalHost(tmp_path / "workspace", note=lambda event: None)
    yield made
    made.end_all()


def test_a_file_is_put_without_a_copy_and_fetched_by_moving(host, tmp_path):
    payload = tmp_path / "payload"
    payload.write_bytes(b"x")
    assert host.put(payload, "name") == PurePosixPath(payload)
    record = Path(host.workspace) / "t.timings"
    record.write_bytes(b"rows")
    host.fetch(PurePosixPath(record), tmp_path / "home")
    assert (tmp_path / "home").read_bytes() == b"rows"
    assert not record.exists()
    with pytest.raises(FileNotFoundError):
        host.fetch(PurePosixPath(record), tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_local_makes_nothing_ends_everything_and_gives_a_receipt(folder):
    deployment = open_deployment(plan(), folder, Workspace())
    deployment.provision()
    host = deployment.deploy().pair("local").responder
    process = host.start(SLEEPER)
    assert isinstance(process, LocalProcess)
    process.read(30.0)
    receipt = deployment.teardown()
    assert (len(receipt.created), len(receipt.destroyed), receipt.left) == (1, 1, ())
    assert started_at(process.pid) is None
    assert deployment.teardown().left == ()


def test_each_placement_has_its_own_pinning(folder):
    ways = [Placement(id=f"local-{pin}", name=pin, kind="local", pin=pin) for pin in ("off", "together")]
    fleet = LocalDeployment(replace(plan(), placements=tuple(ways)), folder).deploy()
    assert fleet.pair("local-off").requester_cpus is None
    together = fleet.pair("local-together")
    assert together.requester_cpus == together.responder_cpus
    assert together.requester_cpus is not None


def test_teardown_ends_what_a_killed_orch_left_and_spares_a_reused_process_id(folder):
    with (
        subprocess.Popen(["sleep", "600"], start_new_session=True) as ours,
        subprocess.Popen(["sleep", "600"]) as other,
    ):
        folder.append({"event": "process", "host": "local", "pid": ours.pid, "started": started_at(ours.pid)})
        folder.append({"event": "process", "host": "local", "pid": other.pid, "started": "long ago"})
        receipt = LocalDeployment(plan(), folder).teardown()
        assert receipt.left == ()
        assert ours.wait(10) == -15
        assert other.poll() is None
        other.kill()
