"""Machines of one's own in an experiment: as `hosts` or an inventory gives them, and where placements put their ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.experiment.plan.plan import OwnHost, Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.topology import Ends, topology
from orchestrator.experiment.read.problems import ExperimentError

HEAD = "name: own\nquestion: Which?\nprovider: ssh\nstacks: [rest]\noperations: [timestamp]\n"
TWO = "hosts: {requester: me@a, responder: me@b}\n"
THREE = "hosts: {a: me@a, b: {ssh: me@b, role: requester}, c: me@c}\n"
FROM_A = "placements: [{name: rack, from: a, to: c}]\n"


def planned(tmp_path: Path, text: str) -> Plan:
    path = tmp_path / "own.yaml"
    path.write_text(HEAD + text)
    return make_plan(path, needs_programs=False)


@pytest.mark.parametrize(
    ("text", "ends", "roles"),
    [
        (TWO, {"network": Ends(requesters=("requester",), responder="responder")}, ["requester", "responder"]),
        (TWO + "placements: local\n", {"local": Ends(requesters=("responder",), responder="responder")}, ["both"]),
        (
            THREE + FROM_A,
            {"rack": Ends(requesters=("requester",), responder="responder")},
            ["requester", "responder"],
        ),
        (
            THREE + FROM_A + "requesters: 2\nload: {concurrency: 2}\n",
            {"rack": Ends(requesters=("requester", "requester-2"), responder="responder")},
            ["requester", "requester", "responder"],
        ),
        (
            THREE + "distance: {zones: [{from: a, to: c}, {from: c, to: b}]}\n",
            {
                "requester-responder-2": Ends(requesters=("requester",), responder="responder-2"),
                "responder-2-responder": Ends(requesters=("responder-2",), responder="responder"),
            },
            ["requester", "responder", "both"],
        ),
    ],
)
def test_placements_name_hosts_or_take_them_by_role(
    tmp_path: Path, text: str, ends: dict[str, Ends], roles: list[str]
) -> None:
    wanted = topology(planned(tmp_path, text))
    assert wanted.ends == ends
    assert [host.role for host in wanted.hosts] == roles
    assert {host.zone for host in wanted.hosts} == {host.name for host in wanted.hosts}


def test_a_host_is_what_ssh_takes_or_a_container(tmp_path: Path) -> None:
    x = '{ssh: "-p 22 b", address: 192.168.7.5, folder: /data, role: responder}'
    text = f"hosts: {{requester-1: {{container: web}}, x: {x}}}\n"
    responder = OwnHost(name="responder", given="x", ssh=("-p", "22", "b"), role="responder", address="192.168.7.5")
    assert planned(tmp_path, text).hosts == (
        OwnHost(name="requester", given="requester-1", container="web", role="requester"),
        replace(responder, folder="/data"),
    )


INI = """\
[requesters]
web_1.example ansible_host=10.0.0.1 ansible_port=2222 ansible_user=bench ansible_ssh_private_key_file=/k
[far:children]
responders
[responders]
db orch_address=192.168.7.5 orch_folder=/data
[far:vars]
ansible_ssh_common_args=-J jump
[other]
spare
"""
YAML = """\
all:
  children:
    requesters: {hosts: {web_1.example: {ansible_host: 10.0.0.1, ansible_port: 2222, ansible_user: bench,
      ansible_ssh_private_key_file: /k}}}
    far: {children: {responders: {hosts: {db: {orch_address: 192.168.7.5, orch_folder: /data}}}},
      vars: {ansible_ssh_common_args: -J jump}}
    other: {hosts: {spare: }}
"""


@pytest.mark.parametrize(("name", "text"), [("hosts.ini", INI), ("hosts.yaml", YAML)])
def test_an_inventory_is_read_by_ansible_itself(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    plan = planned(tmp_path, f"inventory: {name}\n")
    words = ("-l", "bench", "-p", "2222", "-i", "/k", "10.0.0.1")
    responder = OwnHost(name="responder", given="db", ssh=("-J", "jump", "db"), role="responder", folder="/data")
    assert sorted(plan.hosts, key=lambda host: host.given) == [
        replace(responder, address="192.168.7.5"),
        OwnHost(name="spare", given="spare", ssh=("spare",)),
        OwnHost(name="requester", given="web_1.example", ssh=words, role="requester"),
    ]
    assert topology(plan).ends == {"network": Ends(requesters=("requester",), responder="responder")}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "in `hosts`, an `inventory` or a `state`: give one of them"),
        (TWO + "inventory: x\n", "in `hosts`, an `inventory` or a `state`: give one of them"),
        ("inventory: nowhere.ini\n", "there is no file"),
        ('hosts: {requester: "me@a \'", responder: me@b}\n', "no words of a shell"),
        ("hosts: {a: me@a, b: me@b}\n", "needs `to`, a host's name: none has the name or `role` responder"),
        (TWO + "placements: [{name: far, from: requester, to: respnder}]\n", "there is no host 'respnder'"),
        (TWO + "placements: [{name: far, from: responder}]\n", "both ends on one host"),
        (TWO + "distance: 80ms\n", "'rtt' is not for an experiment to choose on ssh"),
        (
            TWO + "requesters: 2\nload: {concurrency: 2}\n",
            "2 requesters are wanted, and 1 can be in placement 'network'",
        ),
        (TWO + "machine: f1-micro\n", "a machine of your own is what it is"),
        (TWO.replace("me@b", "{ssh: me@b, adress: 1.2.3.4}"), "adress"),
        (TWO.replace("me@b", "{ssh: me@b, container: web}"), "a host has `ssh` or `container`: give one of them"),
        (TWO.replace("me@b", "{address: 1.2.3.4}"), "a host has `ssh` or `container`: give one of them"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        planned(tmp_path, text)
    assert words in str(caught.value)


def test_an_inventory_that_ansible_cannot_read_is_refused_with_its_words(tmp_path: Path) -> None:
    (tmp_path / "hosts.yaml").write_text("all: [")
    with pytest.raises(ExperimentError, match="finds no host"):
        planned(tmp_path, "inventory: hosts.yaml\n")


def test_hosts_are_for_that_provider_alone(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(HEAD.replace("ssh", "local") + TWO)
    with pytest.raises(ExperimentError, match="`hosts` is for machines of your own"):
        make_plan(path, needs_programs=False)
