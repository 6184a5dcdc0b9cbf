"""Two hosts of the lab through Terraform, Ansible and SSH: made once, deployed to, reached, and taken down."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.errors import ProvisionError
from orchestrator.hosts.provision.deployment import RemoteDeployment
from orchestrator.hosts.provision.deployments import Registry
from orchestrator.hosts.provision.infra import Infra
from orchestrator.hosts.provision.takedown import take_down
from orchestrator.hosts.provision.terraform import Terraform
from orchestrator.hosts.remote.fleet import RemoteFleet
from orchestrator.hosts.remote.host import RemoteHost
from orchestrator.workspace import Workspace
from services.python.contract.responder_lines import Serve
from tests.support.lab import CACHE, ROOT, Diary, carriers, lab_plan, needs_lab, processes_with

REGISTRY = Registry(Workspace().deployments)
pytestmark = [pytest.mark.busy, needs_lab, pytest.mark.lab, pytest.mark.terraform, pytest.mark.timeout(300)]

WAIT_S = 60.0


@dataclass
class Standing:
    """A deployment that is up, and deployed to."""

    deployment: RemoteDeployment
    diary: Diary
    fleet: RemoteFleet

    @property
    def requester(self) -> RemoteHost:
        return self.fleet.members["requester-1"]

    @property
    def responder(self) -> RemoteHost:
        return self.fleet.members["responder-1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The working folder of all tests here: deployments are written down relative to it. What is up is swept."""
    place = tmp_path_factory.mktemp("deployments")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("ORCH_CACHE", str(CACHE))
        yield place
        for intent in REGISTRY.standing():
            take_down(REGISTRY, intent)


@pytest.fixture(scope="module")
def standing(folder: Path) -> Iterator[Standing]:
    diary = Diary(Path(f"results/standing-{os.getpid()}"))  # not the one of another checkout
    deployment = RemoteDeployment(lab_plan(), diary, Workspace())
    deployment.provision()
    fleet = deployment.deploy()
    yield Standing(deployment, diary, fleet)
    deployment.teardown()


@pytest.fixture
def made(folder: Path, request: pytest.FixtureRequest) -> RemoteDeployment:
    """A deployment of the test's own that is up, but not deployed to."""
    deployment = RemoteDeployment(
        lab_plan(), Diary(Path("results") / f"{request.node.name}-{os.getpid()}"), Workspace()
    )
    deployment.provision()
    return deployment


def await_end(host: RemoteHost, pid: int) -> None:
    """Wait until a process of the host is gone."""
    deadline = time.monotonic() + WAIT_S
    while host.run(["kill", "-0", str(pid)], timeout_s=30).returncode == 0:
        assert time.monotonic() < deadline, f"process {pid} on {host.name} outlived its session"
        time.sleep(0.2)


def test_the_intent_is_on_the_disk_before_anything_is_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    diary = Diary(Path("results/intent"))
    deployment = RemoteDeployment(lab_plan(), diary, Workspace())
    seen = []

    def apply(self: Terraform, replace: object = ()) -> None:
        seen.append(REGISTRY.read(deployment.id))
        raise ProvisionError("quota exceeded")

    monkeypatch.setattr(Terraform, "apply", apply)
    with pytest.raises(ProvisionError, match="quota exceeded"):
        deployment.provision()
    assert seen[0].state == "intended"
    assert set(seen[0].hosts) == {"requester-1", "responder-1"}
    assert [e["event"] for e in diary.written] == ["deployment"]
    receipt = take_down(REGISTRY, seen[0])
    assert receipt.sentence() == "receipt (lab): 0 created, 0 destroyed, nothing left"


def test_a_second_provisioning_and_a_second_deployment_change_nothing(standing: Standing) -> None:
    before, intent = Infra("lab").status(standing.deployment.id), REGISTRY.read(standing.deployment.id)
    assert before["replace"] == []
    standing.deployment.provision()
    assert Infra("lab").status(standing.deployment.id) == before
    assert REGISTRY.read(standing.deployment.id) == intent
    fleet = standing.deployment.deploy()
    assert fleet.describe()["tasks_changed"] == 0
    assert not standing.requester.is_connected
    standing.fleet = fleet


def test_what_was_made_is_told_for_the_manifest(standing: Standing) -> None:
    about = standing.fleet.describe()
    assert about["provider"] == "lab"
    assert about["hosts"]["responder-1"]["zone"] == "us-west1-a"
    assert about["distances"][0]["ping_ms"] == pytest.approx(4.0, abs=0.5)
    assert about["link"]["kind"] in ("netem", "user-space")
    assert standing.fleet.fault() is None
    described = standing.deployment.describe()
    assert described["expires_at"] > time.time()
    assert described["end_with"] == f"orch teardown standing-{os.getpid()}"


def test_a_command_tells_its_status_and_both_streams(standing: Standing) -> None:
    done = standing.requester.run(["sh", "-c", "echo out; echo 'two words' >&2; exit 7"], timeout_s=30)
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "two words\n")


def test_a_process_speaks_in_lines_and_ends_with_its_input(standing: Standing) -> None:
    process = standing.requester.start(["sh", "-c", "echo ready; echo words >&2; cat; exit 3"])
    assert process.read(WAIT_S) == "ready"
    process.send("hello")
    assert process.read(WAIT_S) == "hello"
    with pytest.raises(TimeoutError):
        process.read(0.1)
    assert process.end() == 3
    assert process.end() == 3
    assert process.last_words() == "words\n"
    assert process.read(WAIT_S) is None
    with pytest.raises(BrokenPipeError):
        process.send("hello")


def test_a_process_that_will_not_end_is_killed_with_all_it_started(standing: Standing) -> None:
    process = standing.requester.start(["sh", "-c", "trap '' TERM; sleep 600 & echo $!; wait; wait"])
    child = int(process.read(WAIT_S) or 0)
    assert process.end(grace_s=0.5) == -1
    await_end(standing.requester, child)


@pytest.mark.parametrize("module", ["services.python.programs.respond", "services.python.programs.request"])
def test_what_was_started_ends_when_the_controller_is_killed(standing: Standing, module: str) -> None:
    serve = Serve(protocol="tcp", identity="x").to_json()
    controller = f"""
        import sys
        from pathlib import Path, PurePosixPath
        sys.path.insert(0, {str(ROOT)!r})
        from orchestrator.hosts.remote.host import RemoteHost
        from orchestrator.hosts.remote.ssh import Access
        a = Access(**{ {k: str(v) if isinstance(v, Path) else v for k, v in vars(standing.responder.access).items()}!r})
        host = RemoteHost(name="h", address="", access=a, workspace=PurePosixPath("/var/tmp"))
        process = host.start(["sh", "-c", "echo $$; exec $0 $@", *host.python(), "-m", {module!r}])
        print(process.read(60), flush=True)
        if "respond" in {module!r}:
            process.send({serve!r})
            assert "ready" in process.read(60)
        print("up", flush=True)
        process.read(600)
    """
    lines = "\n".join(line[8:] for line in controller.splitlines())
    child = subprocess.Popen([sys.executable, "-c", lines], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    with child:
        pid = int(child.stdout.readline())
        assert child.stdout.readline() == "up\n"
        assert standing.responder.run(["kill", "-0", str(pid)], timeout_s=30).returncode == 0
        child.send_signal(signal.SIGKILL)
    await_end(standing.responder, pid)


def test_a_lost_connection_ends_its_processes_and_is_made_anew(standing: Standing) -> None:
    host = standing.requester
    process = host.start(["sh", "-c", "echo $$; exec cat"])
    pid = int(process.read(WAIT_S) or 0)
    host.session.fabric.transport.sock.shutdown(2)
    assert process.read(WAIT_S) is None
    assert "its connection was lost" in process.last_words()
    assert process.end() == -1
    await_end(host, pid)


def test_a_file_goes_there_and_back_whole(standing: Standing, tmp_path: Path) -> None:
    payload = tmp_path / "payload"
    payload.write_bytes(os.urandom(3 << 20))
    there = standing.requester.put(payload, "payload")
    assert standing.requester.put(payload, "payload") == there
    standing.requester.fetch(there, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == payload.read_bytes()
    with pytest.raises(FileNotFoundError, match="requester-1 has no such file"):
        standing.requester.fetch(there, tmp_path / "again")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["back", "payload"]


def test_control_traffic_does_not_cross_the_measured_link(standing: Standing, tmp_path: Path) -> None:
    def carried_bytes() -> int:
        """Both directions of every interface but the loopback."""
        rows = standing.requester.run(["cat", "/proc/net/dev"], timeout_s=30).stdout.splitlines()[2:]
        counters = {row.split(":")[0].strip(): row.split(":")[1].split() for row in rows}
        return sum(int(c[0]) + int(c[8]) for name, c in counters.items() if name != "lo")

    payload = tmp_path / "payload"
    payload.write_bytes(os.urandom(1 << 20))
    before = carried_bytes()
    standing.requester.fetch(standing.requester.put(payload, "control"), tmp_path / "back")
    assert carried_bytes() - before < 1_000


def test_taking_down_leaves_nothing_however_often_it_is_done(made: RemoteDeployment) -> None:
    intent = REGISTRY.read(made.id)
    assert carriers(made.id)
    receipt = made.teardown()
    assert receipt.sentence() == "receipt (lab): 2 created, 2 destroyed, nothing left"
    assert carriers(made.id) == []
    assert list((REGISTRY.folder_of(made.id) / "keys").iterdir()) == []
    assert REGISTRY.standing() == [i for i in REGISTRY.standing() if i.id != made.id]
    assert take_down(REGISTRY, intent).left == ()
    assert made.teardown().left == ()


def test_a_state_that_cannot_be_read_is_swept_by_label_and_not_forgotten(made: RemoteDeployment) -> None:
    state = REGISTRY.folder_of(made.id) / "terraform.tfstate"
    state.write_text("{")
    receipt = made.teardown()
    assert receipt.left == ()
    assert "terraform could not destroy" in receipt.unknown[0]
    assert carriers(made.id) == []
    assert made.id in [intent.id for intent in REGISTRY.standing()]
    state.unlink()  # whoever has seen that it knows nothing more
    assert made.teardown().open == ()
    assert made.id not in [intent.id for intent in REGISTRY.standing()]


def test_a_dead_host_and_a_dead_link_are_noticed_and_mended(made: RemoteDeployment) -> None:
    record = json.loads(Path(f"/var/lib/orch-lab/{made.id}/hosts/requester-1/host.json").read_text())
    os.kill(record["first"]["pid"], signal.SIGKILL)
    lost = RemoteFleet(
        members=dict.fromkeys(("requester-1", "responder-1")),  # type: ignore[arg-type]
        topology=made._topology,
        pin="off",
        look=lambda: Infra("lab").status(made.id),
    )
    deadline = time.monotonic() + WAIT_S
    while "host requester-1: its first process has ended" not in (lost.fault() or ""):  # its exit takes a moment
        assert time.monotonic() < deadline, lost.fault()
        time.sleep(0.1)
    made.provision()
    assert lost.fault() is None
    made.teardown()


def test_terraform_that_outlived_its_orch_is_ended_before_teardown(folder: Path) -> None:
    """An apply in the middle of making hosts must not go on making them behind the sweep."""
    deployment = RemoteDeployment(lab_plan(), Diary(Path("results/orphan")), Workspace())
    program = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from orchestrator.hosts.provision.deployment import RemoteDeployment
from orchestrator.workspace import Workspace
from tests.support.lab import Diary, lab_plan
RemoteDeployment(lab_plan(), Diary(Path("results/orphan")), Workspace()).provision()
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.DEVNULL)
    log = REGISTRY.folder_of(deployment.id) / "logs" / "terraform-apply.log"
    deadline = time.monotonic() + WAIT_S
    while not (log.exists() and "Creating..." in log.read_text()):
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.kill()
    child.wait()
    assert processes_with(deployment.id), "terraform ended with its orch: this test shows nothing"
    intent = REGISTRY.read(deployment.id)
    assert take_down(REGISTRY, intent).left == ()
    assert carriers(deployment.id) == []
