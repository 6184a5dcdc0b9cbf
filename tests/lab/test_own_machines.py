"""Machines of one's own, as namespaces that only SSH reaches, and an ordinary user on each."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from orchestrator.errors import MissingError, ProvisionError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.own.survey import inspect
from orchestrator.hosts.provision.deployment import RemoteDeployment
from orchestrator.hosts.provision.deployments import Registry
from orchestrator.workspace import Workspace
from tests.support.lab import CACHE, Diary, on_hosts
from tests.support.own_hosts import USER, Network, make_key

ORCH = str(Path(sys.executable).with_name("orch"))
MOMENTS = int(os.environ.get("ORCH_MOMENTS", "2"))  # at which runs are killed; hosts are cut off at half as many
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
        f"name: own\nquestion: Which?\nprovider: ssh\nhosts:\n{hosts}stacks: [rest]\noperations: [timestamp]\n"
        "repeats: 1\nload: {requests: 100, concurrency: 2}\nwarmup: {requests: 5, at_least: 0s}\n"
        f"{extra}"
    )
    return path


def planned(network: Network, *names: str) -> Plan:
    return make_plan(experiment(network, *names))


def deployment(plan: Plan, run: str = "run") -> RemoteDeployment:
    named = f"{run}-{os.getpid()}"  # a teardown ends the programs of every deployment of that name here
    return RemoteDeployment(plan, Diary(Path("results") / named), Workspace())


def up(made: RemoteDeployment) -> None:
    made.provision()
    made.deploy()


def test_two_runs_on_one_host_refuse_each_other_and_nothing_is_put_there(network: Network) -> None:
    for name in ("requester", "responder"):
        network.add(name)
    plan = planned(network, "requester", "responder")
    first, second = deployment(plan, "first"), deployment(plan, "second")
    for each in (first, second):
        each.provision()
    held = {name: first._host(name, host) for name, host in first._maker.make(plan, is_new=False)["hosts"].items()}
    first._maker.prepare(plan, held)
    with pytest.raises(MissingError, match="requester is in use: run o"):
        second.deploy()
    receipt = second.teardown()
    assert (receipt.created, receipt.open) == ((), ())
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
    changed = {"folder": "/nowhere"} if fault == "folder" else {}
    plan = replace(plan, hosts=(plan.hosts[0], replace(plan.hosts[1], **changed)))
    assert words in "; ".join(each.trouble for each in inspect(plan))
    made = deployment(plan)
    with pytest.raises(ProvisionError, match=words.replace(".", r"\.")):
        up(made)
    assert asks.files == []
    if fault != "gone":
        assert answers.files == []
    assert made.teardown().open == ()


@dataclass(frozen=True)
class Whole:
    """A run of three hosts that nobody disturbs: how it ended, how many lines it wrote, and what is left."""

    status: int
    said: str
    lines: int
    files: Mapping[str, Sequence[str]]
    named: Sequence[str]  # words of its hosts in what it keeps


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("ORCH_CACHE", str(CACHE))
        (folder / "network").mkdir()
        network = Network(folder / "network")
        try:
            status = begin(network).wait(timeout=500)
            (kept,) = Path("results").glob("*-own-*")
            texts = [(kept / name).read_text() for name in ("manifest.json", "summary.json")]
            words = (USER, network.network, str(network.folder))
            named = [word for word in words if any(word in text for text in texts)]
            files = {name: machine.files for name, machine in network.machines.items()}
            return Whole(status, Path("run.log").read_text(), written(), files, named)
        finally:
            network.close()


def test_a_run_with_two_requesters_leaves_nothing_on_its_hosts_and_has_none_of_their_names(whole: Whole) -> None:
    assert whole.status in (0, 5), whole.said  # a busy machine may make it invalid
    assert "receipt (ssh): 3 created, 3 destroyed, nothing left" in whole.said
    assert whole.files == {name: [] for name in NAMES}
    assert whole.named == []


def begin(network: Network) -> subprocess.Popen[bytes]:
    """Start a run with two requesters."""
    for name in NAMES:
        network.add(name)
    path = experiment(network, *NAMES, extra="requesters: 2\n")
    with Path("run.log").open("w") as log:
        return subprocess.Popen([ORCH, "run", str(path)], stdout=log, stderr=log)


def written() -> int:
    """Return how far the run in this folder is: the lines that it, its journal and Ansible wrote."""
    paths = (
        Path("run.log"),
        *Path().glob("results/*/journal.jsonl"),
        *Path().glob(".orch/deployments/*/logs/ansible.log"),
    )
    return sum(len(path.read_bytes().splitlines()) for path in paths)


def await_lines(run: subprocess.Popen[bytes], count: float) -> None:
    while run.poll() is None and written() < count:
        time.sleep(0.02)


def left(network: Network) -> list[str]:
    """Files of the account on every host, and its processes but those of its connections."""
    processes = f"ps -u {USER} -o args= | grep -v ^sshd: || true"
    machines = network.machines.values()
    return [line for host in machines for line in (*host.files, *host.shell(processes).splitlines())]


def taken_down(network: Network) -> None:
    """The next commands name what is left, and remove it."""
    if left(network):
        status = subprocess.run([ORCH, "status"], capture_output=True, text=True, check=True, timeout=200)
        assert "end it with: orch teardown" in status.stdout
    done = subprocess.run([ORCH, "teardown"], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert left(network) == []


@pytest.mark.parametrize("number", range(MOMENTS))
def test_what_a_killed_run_leaves_is_named_and_removed(network: Network, whole: Whole, number: int) -> None:
    run = begin(network)
    await_lines(run, whole.lines * number / MOMENTS)
    run.kill()
    run.wait()
    taken_down(network)


@pytest.mark.parametrize("number", range((MOMENTS + 1) // 2))
def test_a_host_that_is_cut_off_is_in_the_receipt_and_swept_when_it_is_back(
    network: Network, whole: Whole, number: int
) -> None:
    run = begin(network)
    await_lines(run, whole.lines * number / ((MOMENTS + 1) // 2))
    host = network.machines[NAMES[number % len(NAMES)]]
    had_ended = run.poll() is not None
    host.cut()
    run.wait(timeout=500)
    words = Path("run.log").read_text()
    is_open = f"on {host.name} (" in words
    assert had_ended or "receipt (ssh)" in words, words
    host.join()
    assert is_open or left(network) == [], words
    taken_down(network)


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
