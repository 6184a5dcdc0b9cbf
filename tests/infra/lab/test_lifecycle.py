"""A lab's life: up, unchanged, broken and repaired, down, swept, expired; and what failed tries leave behind."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from deployments import Deployment, host_spec
from orchlab import processes

pytestmark = [pytest.mark.busy, pytest.mark.lab, pytest.mark.terraform]

Deploy = Callable[..., Deployment]

HOSTS = {
    "requester": {"role": "requester", "zone": "us-west1-a", "machine": "lab"},
    "responder": {"role": "responder", "zone": "us-central1-a", "machine": "lab"},
}
LINKS = [{"from_zone": "us-west1-a", "to_zone": "us-central1-a", "rtt_ms": 2}]


@pytest.fixture
def two_hosts(deploy: Deploy) -> Iterator[Deployment]:
    deployment = deploy(hosts=HOSTS, links=LINKS).up()
    yield deployment
    deployment.provider("sweep", "--run-id", deployment.run_id)


def eventually(condition: Callable[[], bool], within_s: float = 60.0) -> bool:
    """Whether a condition comes true: for things that other processes do and announce to nobody."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def kill(pid: int) -> None:
    """End a process of the lab's the hard way, and wait until it is gone."""
    pidfd = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        # Readable once it has exited; /proc/PID/exe goes earlier, while its files are still being closed.
        assert select.select([pidfd], [], [], 60)[0], f"process {pid} does not end"
    finally:
        os.close(pidfd)


def test_a_second_plan_changes_nothing_and_down_leaves_nothing(two_hosts: Deployment) -> None:
    assert not two_hosts.plan_changes()
    handles = [processes.Handle(**two_hosts.record(name)[role]) for name in HOSTS for role in ("keeper", "first")]
    assert all(processes.is_alive(handle) for handle in handles)

    done = two_hosts.destroy()

    assert done.returncode == 0, done.stderr
    assert two_hosts.traces() == []
    assert not any(processes.is_alive(handle) for handle in handles)


def test_a_killed_host_is_named_and_repaired(two_hosts: Deployment) -> None:
    kill(two_hosts.record("requester")["first"]["pid"])

    broken = two_hosts.status()
    assert broken["hosts"]["requester"] == {
        "alive": False,
        "why": "its first process has ended",
        "expires_at": broken["hosts"]["requester"]["expires_at"],
    }
    assert broken["hosts"]["responder"]["alive"]
    assert broken["replace"] == ['terraform_data.host["requester"]']
    assert "cannot be reached" in two_hosts.ssh("requester", "true").stderr

    done = two_hosts.apply(*(f"-replace={address}" for address in broken["replace"]))
    assert done.returncode == 0, done.stderr
    assert two_hosts.status()["replace"] == []
    assert two_hosts.median_ping_ms("requester", "responder") > 0


def test_a_host_does_not_outlive_its_keeper(two_hosts: Deployment) -> None:
    first = two_hosts.record("requester")["first"]["pid"]
    kill(two_hosts.record("requester")["keeper"]["pid"])
    assert eventually(lambda: not Path(f"/proc/{first}/exe").exists())
    assert not two_hosts.status()["hosts"]["requester"]["alive"]


def test_a_killed_link_is_named_and_repaired(two_hosts: Deployment) -> None:
    if two_hosts.output("link")["kind"] != "user-space":
        pytest.skip("this kernel has netem: there is no process to kill")
    kill(two_hosts.emulator_pid())

    broken = two_hosts.status()
    assert broken["link"] == {"kind": "user-space", "alive": False, "why": "its emulator has ended"}
    assert broken["replace"] == ["terraform_data.link"]

    done = two_hosts.apply("-replace=terraform_data.link")
    assert done.returncode == 0, done.stderr
    assert two_hosts.status()["replace"] == []
    assert two_hosts.median_ping_ms("requester", "responder") > 0


def test_a_deployment_that_lost_its_files_is_made_again(two_hosts: Deployment) -> None:
    two_hosts.provider("sweep", "--run-id", two_hosts.run_id)
    lost = two_hosts.status()
    assert lost["replace"] == ["terraform_data.network"]
    done = two_hosts.apply("-replace=terraform_data.network")
    assert done.returncode == 0, done.stderr
    assert two_hosts.status()["replace"] == []


def test_sweep_needs_no_state(two_hosts: Deployment) -> None:
    (two_hosts.folder / "terraform.tfstate").unlink()
    listed = json.loads(two_hosts.provider("list").stdout)["runs"][two_hosts.run_id]
    assert listed["hosts"] == ["requester", "responder"]
    assert listed["expires_at"] > time.time()

    receipt = json.loads(two_hosts.provider("sweep", "--run-id", two_hosts.run_id).stdout)

    assert receipt["left"] == []
    assert set(receipt["removed"]) == {f"orch-{two_hosts.run_id}-{name}" for name in ("link", "requester", "responder")}
    assert two_hosts.traces() == []
    again = json.loads(two_hosts.provider("sweep", "--run-id", two_hosts.run_id).stdout)
    assert again == {"removed": [], "left": []}


def test_a_failed_host_undoes_itself(deploy: Deploy) -> None:
    deployment = deploy(hosts=HOSTS, links=LINKS)
    deployment.variables["host_keys"]["requester"]["private_key_path"] = "/nowhere/key"
    deployment.init()

    done = deployment.apply()

    assert done.returncode != 0
    words = " ".join(done.stderr.split())  # Terraform breaks lines where it likes
    assert "error: cannot read the host key" in words
    assert "hint: host_keys" in words
    assert not [trace for trace in deployment.traces() if "requester" in trace]
    assert deployment.destroy().returncode == 0
    assert deployment.traces() == []


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_host_undoes_itself(deploy: Deploy, tmp_path: Path, signum: signal.Signals) -> None:
    deployment = deploy(hosts=HOSTS, links=LINKS)
    host_key = deployment.variables["host_keys"]["requester"]["private_key_path"]
    spec = host_spec(deployment.run_id, deployment.variables["ssh_public_key"], host_key)
    ip = tmp_path / "ip"  # never gets done, and says when it was asked
    ip.write_text(f"#!/bin/sh\necho asked >{tmp_path}/asked\nexec sleep 600\n")
    ip.chmod(0o755)
    changes = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ORCH_LAB_SPEC": spec}
    argv = [sys.executable, "-ES", str(deployment._module / "provider.py"), "host-up"]
    making = subprocess.Popen(argv, env=os.environ | changes, stderr=subprocess.DEVNULL)
    assert eventually((tmp_path / "asked").exists)
    assert Path("/var/lib/orch-lab", deployment.run_id, "hosts", "db").exists()

    making.send_signal(signum)

    assert making.wait(timeout=60) != 0
    assert deployment.traces() == []


def test_a_failed_link_undoes_itself(two_hosts: Deployment) -> None:
    spec: dict[str, Any] = {
        "run_id": two_hosts.run_id,
        "kind": "user-space",
        "hosts": {
            name: {key: host[key] for key in ("address", "zone", "role")} for name, host in two_hosts.hosts.items()
        },
        "links": [],
    }
    spec["hosts"]["stranger"] = {"address": "198.18.0.99", "zone": "us-west1-a", "role": "requester"}
    argv = ["env", f"ORCH_LAB_SPEC={json.dumps(spec)}", "python3", str(two_hosts._module / "provider.py"), "link-up"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "host stranger is not there" in done.stderr
    assert not Path("/var/lib/orch-lab", two_hosts.run_id, "link").exists()


def test_hosts_expire_by_themselves_and_take_everything_along(deploy: Deploy) -> None:
    deployment = deploy(hosts=HOSTS, links=LINKS, ttl_seconds=6).up()
    assert eventually(lambda: deployment.traces() == []), deployment.traces()
    assert deployment.destroy().returncode == 0
