"""Machines of one's own, as namespaces that only SSH reaches, and an ordinary user on each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import MissingError, ProvisionError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.own.survey import inspect
from orchestrator.hosts.provision.deployment import RemoteDeployment
from orchestrator.hosts.provision.deployments import Registry
from orchestrator.hosts.provision.overview import overview
from orchestrator.hosts.provision.takedown import take_down
from orchestrator.workspace import Workspace
from tests.support.lab import CACHE, ROOT, Diary, on_hosts
from tests.support.own_hosts import Network, make_key

REGISTRY = Registry(Workspace().deployments)
pytestmark = on_hosts(600)
NAMES = ("requester", "requester-2", "responder")


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Network]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORCH_CACHE", str(CACHE))
    (tmp_path / "network").mkdir()
    made = Network(tmp_path / "network")
    yield made
    made.close()


def experiment(network: Network, *names: str, extra: str = "") -> Path:
    hosts = "".join(f'  {name}: "{network.ssh(name)}"\n' for name in names)
    path = Path("own.yaml")
    path.write_text(
        f"name: own\nquestion: Which?\nprovider: ssh\nhosts:\n{hosts}stacks: [rest, http+json]\noperations: [timestamp]\n"
        f"repeats: 1\nload: {{requests: 100, concurrency: 2}}\n{extra}"
    )
    return path


def planned(network: Network, *names: str) -> Plan:
    return make_plan(experiment(network, *names), needs_programs=False)


def deployment(plan: Plan, run: str = "run") -> RemoteDeployment:
    return RemoteDeployment(plan, Diary(Path("results") / run), Workspace())


def up(made: RemoteDeployment) -> None:
    made.provision()
    made.deploy()


def test_a_run_with_two_requesters_leaves_nothing_on_its_hosts(network: Network) -> None:
    for name in NAMES:
        network.add(name)
    path = experiment(network, *NAMES, extra="requesters: 2\n")
    orch = [str(Path(sys.executable).with_name("orch")), "run", str(path)]
    done = subprocess.run(orch, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode in (0, 5), done.stdout + done.stderr  # a busy machine may make it invalid
    assert "receipt (ssh): 3 created, 3 destroyed, nothing left" in done.stdout + done.stderr
    assert {name: machine.files for name, machine in network.machines.items()} == {name: [] for name in NAMES}


def test_two_runs_on_one_host_refuse_each_other_and_nothing_is_put_there(network: Network) -> None:
    for name in ("requester", "responder"):
        network.add(name)
    plan = planned(network, "requester", "responder")
    first, second = deployment(plan, "first"), deployment(plan, "second")
    for each in (first, second):
        each.provision()
    held = {name: first._host(name, host) for name, host in first._maker.make(plan, is_new=False)["hosts"].items()}
    about = first._maker.prepare(plan, held)
    assert about["clocks"].keys() == held.keys()
    assert all(abs(clock["ahead_ms"]) <= clock["error_ms"] for clock in about["clocks"].values())  # it is one clock
    with pytest.raises(MissingError, match="requester is in use: run o"):
        second.deploy()
    assert second.teardown().open == ()
    first._members = held
    assert first.teardown().destroyed == ("requester", "responder")
    assert network.machines["responder"].files == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("key", "does not let user bench in without a password"),
        ("host key", "is not known, and an unknown one is never accepted"),
        ("other host key", "its SSH host key is not the one in known_hosts"),
        ("python", "responder has no Python 3.11 or newer"),
        ("disk", "of disk are free; a run needs"),
        ("folder", "may not write to /nowhere"),
        ("gone", "responder does not answer on SSH"),
        ("route", "requester cannot reach responder at"),
        ("address", "responder cannot listen on 198.18.0.99"),
    ],
)
def test_what_is_in_the_way_is_seen_before_anything_is_put_there(network: Network, fault: str, words: str) -> None:
    asks = network.add("requester")
    key = make_key(network.folder / "another") if fault == "key" else None
    answers = network.add("responder", key=key, known=fault != "host key", home_mb=50 if fault == "disk" else 2_000)
    plan = planned(network, "requester", "responder")
    if fault == "other host key":
        known = network.folder / "known_hosts"
        first, last = known.read_text().splitlines()
        known.write_text(f"{first}\n{last.split()[0]} {first.split(maxsplit=1)[1]}\n")
    elif fault == "python":
        answers.shell("mount --bind /bin/false $(readlink -f /usr/bin/python3)")
    elif fault == "gone":
        answers.vanish()
    elif fault == "route":
        asks.shell(f"ip route add blackhole {answers.address}/32")
    changed = {"folder": {"folder": "/nowhere"}, "address": {"address": "198.18.0.99"}}.get(fault, {})
    plan = replace(plan, hosts=(plan.hosts[0], replace(plan.hosts[1], **changed)))
    assert words in "; ".join(each.trouble for each in inspect(plan))
    made = deployment(plan)
    with pytest.raises(ProvisionError, match=words.replace(".", r"\.")):
        up(made)
    assert asks.files == []
    if fault != "gone":
        assert answers.files == []
    assert made.teardown().open == ()


KILLED = """
import sys
from pathlib import Path
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.provision.deployment import RemoteDeployment
from orchestrator.workspace import Workspace
from tests.support.lab import Diary
made = RemoteDeployment(make_plan(Path("own.yaml"), needs_programs=False), Diary(Path("results/killed")), Workspace())
made.provision()
print("provisioned", flush=True)
made.deploy()
"""


def test_after_a_kill_the_next_command_sees_what_is_left_and_removes_it(network: Network) -> None:
    for name in ("requester", "responder"):
        network.add(name)
    planned(network, "requester", "responder")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    killed = subprocess.Popen([sys.executable, "-c", KILLED], env=environment, stdout=subprocess.PIPE, text=True)
    assert killed.stdout.readline() == "provisioned\n"
    responder = network.machines["responder"]
    while not responder.files:
        assert killed.poll() is None
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    (entry,) = overview(REGISTRY)
    assert entry["hosts"]["responder"] == {"alive": True, "why": None, "expires_at": None}
    (intent,) = REGISTRY.standing()
    assert take_down(REGISTRY, intent).open == ()
    assert {name: machine.files for name, machine in network.machines.items()} == {"requester": [], "responder": []}


def test_a_host_that_vanished_is_in_the_receipt_until_it_answers_again(network: Network) -> None:
    for name in ("requester", "responder"):
        network.add(name)
    plan = planned(network, "requester", "responder")
    made = deployment(plan)
    made.provision()
    fleet = made.deploy()
    assert fleet.fault() is None
    network.machines["responder"].vanish()
    assert "host responder: not known: responder does not answer" in (fleet.fault() or "")
    receipt = made.teardown()
    assert receipt.destroyed == ("requester",)
    assert len(receipt.unknown) == 1
    assert "on responder (responder does not answer on SSH" in receipt.unknown[0]
    assert [intent.state for intent in REGISTRY.standing()] == ["up"]
