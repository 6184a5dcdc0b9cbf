"""A Terraform module of one's own in an experiment, and hosts out of the outputs of a state."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment.plan.own.own_module import PROGRAMS, find_program, read_hosts
from orchestrator.experiment.plan.plan import OwnHost, Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.topology import HostSpec, topology
from orchestrator.experiment.providers import GIVEN
from orchestrator.experiment.read.problems import ExperimentError

HEAD = (
    "name: own\nquestion: Which?\nstacks: [rest]\noperations: [timestamp]\nlimits: {cost: 1 USD}\nprovider: terraform\n"
)
EXISTING = HEAD.replace("provider: terraform", "provider: ssh")
OUTPUT = 'output "hosts" {\n  value = {}\n}\n'
SSH = {"user": "me", "host_name": "203.0.113.5"}
KNOWN = "a ssh-ed25519 AAAA"
PROXY = {"port": 2222, "alias": "db", "proxy_command": "relay 100%", "known_hosts": KNOWN, "identity_file": "/k"}


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "outputs.tf").write_text(OUTPUT)
    return folder


def planned(text: str, head: str = HEAD) -> Plan:
    Path("own.yaml").write_text(head + text)
    return make_plan(Path("own.yaml"))


def test_the_module_gets_zones_and_machine_as_they_are_given() -> None:
    given = planned("module: ./mine\nmachine: cx22\nplacements: [{name: far, from: fsn1-dc14, to: nbg1}]\n")
    assert (given.provider, given.module, given.hosts) == ("terraform", "mine", ())
    assert topology(given).hosts == (
        HostSpec(name="responder-1", role="responder", zone="nbg1", machine="cx22"),
        HostSpec(name="requester-1", role="requester", zone="fsn1-dc14", machine="cx22"),
    )
    usual = topology(planned("module: mine\nplacements: cross-region\n"))
    assert [(host.zone, host.machine) for host in usual.hosts] == [("zone-2", "default"), ("zone-1", "default")]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "6:11", "give `module`, the folder of a Terraform module."),
        ("module: ./mine2\n", "7:9", "mine2 is no Terraform module with an output `hosts`"),
        ("module: ./none\n", "7:9", "none is no Terraform module with an output `hosts`"),
        ("module: ./mine\nstate: ./mine\n", "8:8", "`state` is for machines of your own: `provider: ssh`."),
    ],
)
def test_what_is_no_module_is_refused_where_it_is(text: str, place: str, words: str) -> None:
    Path("none").mkdir()
    Path("none/main.tf").write_text('output "host" {}\n')
    with pytest.raises(ExperimentError) as caught:
        planned(text)
    assert f"own.yaml:{place}" in str(caught.value)
    assert words in str(caught.value)


def test_without_prices_the_limit_is_the_persons_own() -> None:
    Path("own.yaml").write_text(HEAD.replace("limits: {cost: 1 USD}\n", "") + "module: mine\n")
    with pytest.raises(ExperimentError, match=r"no prices of terraform: look up what the hosts cost for 2 h"):
        make_plan(Path("own.yaml"))


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ({"host": 1, "link": 2}, r"no output `hosts` that maps names to hosts \(outputs: host, link\)"),
        ({"hosts": {"a": {"address": "1", "ssh": {"user": "me"}}}}, r"hosts\.a\.ssh\.host_name: Field required"),
        ({"hosts": {"b": {}}}, r"hosts\.b\.address: Field required \(and 1 more\)"),
    ],
)
def test_outputs_of_another_shape_are_named(outputs: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_hosts(outputs)


@pytest.mark.terraform
@pytest.mark.skipif(not any(map(shutil.which, PROGRAMS)), reason="neither terraform nor tofu is on the PATH")
@pytest.mark.parametrize("place", ["./mine", "mine/terraform.tfstate"])
def test_hosts_that_exist_are_machines_of_ones_own(module: Path, place: str) -> None:
    hosts = {
        "requester": {"address": "10.0.0.5", "ssh": SSH},
        "db": {"address": "10.0.0.6", "role": "responder", "ssh": {**SSH, **PROXY}},
    }
    _write_state(module, {"hosts": hosts})
    plan = planned(f"state: {place}\n", EXISTING)
    assert plan.provider == GIVEN
    assert sorted(plan.hosts, key=lambda host: host.name) == [
        OwnHost(
            name="requester",
            given="requester",
            ssh=("-l", "me", "-p", "22", "203.0.113.5"),
            role="requester",
            address="10.0.0.5",
        ),
        OwnHost(
            name="responder",
            given="db",
            ssh=(
                *("-l", "me", "-p", "2222", "-i", "/k", "-o", "HostKeyAlias=db"),
                *("-o", "ProxyCommand=relay 100%%", "203.0.113.5"),
            ),
            role="responder",
            address="10.0.0.6",
            known_hosts=KNOWN,
        ),
    ]


@pytest.mark.terraform
@pytest.mark.skipif(not any(map(shutil.which, PROGRAMS)), reason="neither terraform nor tofu is on the PATH")
def test_a_state_without_hosts_is_refused_with_what_it_has(module: Path) -> None:
    _write_state(module, {"network": "x"})
    with pytest.raises(ExperimentError, match=r"own\.yaml:7:8: .*no output `hosts` .* \(outputs: network\)"):
        planned("state: ./mine\n", EXISTING)


def test_a_state_that_is_not_there_is_refused_where_it_is_named() -> None:
    with pytest.raises(ExperimentError, match=r"own\.yaml:7:8: there is no state nowhere\."):
        planned("state: ./nowhere\n", EXISTING)


def test_without_terraform_no_state_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ExperimentError, match=r"own\.yaml:7:8: neither terraform nor tofu is on the PATH"):
        planned("state: ./mine\n", EXISTING)


def _write_state(folder: Path, outputs: dict[str, Any]) -> None:
    """As Terraform itself writes it."""
    (folder / "outputs.tf").unlink()
    document = {"output": {name: {"value": value} for name, value in outputs.items()}}
    (folder / "outputs.tf.json").write_text(json.dumps(document))
    program = find_program()
    for verb in (["init"], ["apply", "-auto-approve"]):
        subprocess.run([program, f"-chdir={folder}", *verb], check=True, capture_output=True, timeout=60)
