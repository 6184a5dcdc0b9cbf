"""What only has a name like ours is not ours: it is not listed, not swept, and not taken over by a host of that name."""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from deployments import Deployment, call_provider, host_spec, make_key
from orchlab import cgroups, layout, ownership

pytestmark = [pytest.mark.busy, pytest.mark.lab, pytest.mark.usefixtures("lab_machine")]


@dataclass
class Stranger:
    """A namespace and a cgroup of somebody else's, each with a process, named as the lab names a host."""

    run_id: str
    group: cgroups.Group
    processes: list[subprocess.Popen[bytes]]

    @property
    def instance(self) -> str:
        return layout.instance_name(self.run_id, "db")

    @property
    def is_whole(self) -> bool:
        there = (ownership.NETNS / self.instance).exists() and all(f.is_dir() for f in self.group.folders)
        return there and all(process.poll() is None for process in self.processes)


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    run_id = f"t{secrets.token_hex(5)}"
    instance = layout.instance_name(run_id, "db")
    subprocess.run(["ip", "netns", "add", instance], check=True)
    group = cgroups.find_tree(Path("/proc/mounts").read_text()).group(instance)
    for folder in group.folders:
        folder.mkdir()
    inside = subprocess.Popen(["ip", "netns", "exec", instance, "sleep", "600"])
    grouped = subprocess.Popen(["sleep", "600"])
    for folder in group.folders:
        (folder / "cgroup.procs").write_text(str(grouped.pid))
    yield Stranger(run_id, group, [inside, grouped])
    for process in (inside, grouped):
        process.kill()
        process.wait()
    for folder in group.folders:
        if folder.is_dir():
            folder.rmdir()
    subprocess.run(["ip", "netns", "del", instance], check=False, capture_output=True)


def test_a_strangers_namespace_and_cgroup_are_not_listed_and_not_swept(infra: Path, stranger: Stranger) -> None:
    assert stranger.run_id not in json.loads(call_provider(infra / "lab", "list").stdout)["runs"]
    done = call_provider(infra / "lab", "sweep", "--run-id", stranger.run_id)
    assert json.loads(done.stdout) == {"removed": [], "left": []}
    assert call_provider(infra / "lab", "host-down", "--run-id", stranger.run_id, "--host", "db").returncode == 0
    assert stranger.is_whole


def test_no_host_takes_the_place_of_a_stranger(infra: Path, stranger: Stranger, tmp_path: Path) -> None:
    spec = host_spec(stranger.run_id, make_key(tmp_path / "user"), str(tmp_path / "user"))
    done = call_provider(infra / "lab", "host-up", ORCH_LAB_SPEC=spec)
    assert done.returncode == 4
    assert f"a network namespace {stranger.instance} that is not ours" in done.stderr
    assert stranger.is_whole
    subprocess.run(["ip", "netns", "del", stranger.instance], check=True)  # now only the cgroup is in the way
    done = call_provider(infra / "lab", "host-up", ORCH_LAB_SPEC=spec)
    assert done.returncode == 4
    assert f"a cgroup {stranger.instance} that is not ours" in done.stderr
    assert stranger.processes[1].poll() is None
    assert all(folder.is_dir() for folder in stranger.group.folders)
    assert stranger.run_id not in json.loads(call_provider(infra / "lab", "list").stdout)["runs"]


@pytest.mark.terraform
def test_a_host_of_ours_is_known_by_its_mark_alone(deploy, infra: Path) -> None:
    host = {"requester": {"role": "both", "zone": "us-west1-a", "machine": "lab"}}
    deployment: Deployment = deploy(hosts=host, links=[]).up()
    assert ownership.is_marked(deployment.run_id, "requester")
    (layout.run_dir(deployment.run_id) / "hosts").rename(layout.run_dir(deployment.run_id) / "lost")
    assert json.loads(call_provider(infra / "lab", "list").stdout)["runs"][deployment.run_id]["hosts"] == ["requester"]
    swept = json.loads(call_provider(infra / "lab", "sweep", "--run-id", deployment.run_id).stdout)
    assert layout.instance_name(deployment.run_id, "requester") in swept["removed"]
    (layout.run_dir(deployment.run_id) / "lost").rename(layout.run_dir(deployment.run_id) / "hosts")
