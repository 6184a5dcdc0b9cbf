"""Containers of a real engine as hosts, with an ordinary user in each; skipped where no engine runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.own.survey import inspect
from orchestrator.hosts.provision.deployment import RemoteDeployment
from orchestrator.hosts.provision.deployments import Registry
from orchestrator.hosts.provision.takedown import take_down
from orchestrator.workspace import Workspace
from tests.support.containers import ENGINES, USER, Containers, needs_engine
from tests.support.lab import CACHE, Diary
from tests.support.own_hosts import Network

REGISTRY = Registry(Workspace().deployments)
pytestmark = [pytest.mark.busy, pytest.mark.lab, pytest.mark.slow, needs_engine, pytest.mark.timeout(600)]


@pytest.fixture(params=ENGINES)
def containers(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Containers]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORCH_CACHE", str(CACHE))
    monkeypatch.setenv("ORCH_MACHINE_LOCK", str(tmp_path / "lock"))
    made = Containers(request.param)
    yield made
    made.close()


def experiment(**hosts: str) -> Path:
    lines = "".join(f"  {name}: {host}\n" for name, host in hosts.items())
    path = Path("own.yaml")
    path.write_text(
        f"name: own\nquestion: Which?\nprovider: ssh\nhosts:\n{lines}stacks: [rest, http+json]\noperations: [timestamp]\n"
        "repeats: 1\nload: {requests: 100, concurrency: 2}\n"
    )
    return path


def in_container(called: str, more: str = "") -> str:
    return f"{{container: {called}{more}}}"


def run(path: Path) -> str:
    orch = [str(Path(sys.executable).with_name("orch")), "run", str(path)]
    done = subprocess.run(orch, capture_output=True, text=True, check=False, timeout=500)
    words = done.stdout + done.stderr
    assert done.returncode in (0, 5), words  # a busy machine may make it invalid
    return words


def test_two_containers_are_measured_and_left_as_they_were(containers: Containers) -> None:
    ends = [containers.add(name) for name in ("requester", "responder")]
    words = run(experiment(requester=in_container(ends[0]), responder=in_container(ends[1])))
    assert "receipt (ssh): 2 created, 2 destroyed, nothing left" in words
    assert [containers.files(end) for end in ends] == [[], []]


def test_a_container_and_a_host_over_ssh_are_measured_together(containers: Containers, tmp_path: Path) -> None:
    (tmp_path / "network").mkdir()
    network = Network(tmp_path / "network")
    try:
        network.add("requester")
        end = containers.add("responder", "--network", "none")
        address = network.join(containers.pid(end))
        words = run(
            experiment(requester=f'"{network.ssh("requester")}"', responder=in_container(end, f", address: {address}"))
        )
        assert "receipt (ssh): 2 created, 2 destroyed, nothing left" in words
        assert (network.machines["requester"].files, containers.files(end)) == ([], [])
    finally:
        network.close()


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        ("none", "there is no container"),
        ("stopped", "is not running"),
        ("python", "responder has no Python 3.11 or newer"),
        ("folder", f"user {USER} may not write to /nowhere"),
        ("address", "'' is no IPv4 address"),
    ],
)
def test_what_is_in_the_way_is_seen_before_anything_is_put_there(
    containers: Containers, fault: str, trouble: str
) -> None:
    options = {"python": ["-v", "/bin/false:/usr/bin/python3:ro"], "address": ["--network", "none"]}.get(fault, [])
    ends = [containers.add("requester"), containers.add("responder", *options)]
    if fault == "stopped":
        containers.end(ends[1])
    called = "nobody" if fault == "none" else ends[1]
    more = ", folder: /nowhere" if fault == "folder" else ""
    plan = make_plan(experiment(requester=in_container(ends[0]), responder=in_container(called, more)))
    assert trouble in "; ".join(each.trouble for each in inspect(plan))
    assert containers.files(ends[0]) == []


@pytest.mark.parametrize(("verb", "why", "unknown"), [("kill", "runs no command", 1), ("rm", "it is gone", 0)])
def test_a_container_that_ends_in_the_middle_is_in_the_receipt_unless_it_is_removed(
    containers: Containers, verb: str, why: str, unknown: int
) -> None:
    ends = [containers.add(name) for name in ("requester", "responder")]
    path = experiment(requester=in_container(ends[0]), responder=in_container(ends[1]))
    made = RemoteDeployment(make_plan(path), Diary(Path("results") / containers.id), Workspace())
    made.provision()
    fleet = made.deploy()
    assert fleet.fault() is None
    containers.end(ends[1], verb)
    assert why in (fleet.fault() or "")
    receipt = made.teardown()
    assert len(receipt.unknown) == unknown
    assert containers.files(ends[0]) == []
    if verb == "kill":
        containers.end(ends[1], "start")
        (intent,) = REGISTRY.standing()
        assert take_down(REGISTRY, intent).open == ()
        assert containers.files(ends[1]) == []
    assert REGISTRY.standing() == []
