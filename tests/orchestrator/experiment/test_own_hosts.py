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


def planned(tmp_path: Path, text: str) -> Plan:
    path = tmp_path / "own.yaml"
    path.write_text(HEAD + text)
    return make_plan(path)


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


def test_an_inventory_is_read_by_ansible_itself(tmp_path: Path) -> None:
    (tmp_path / "hosts.ini").write_text(INI)
    plan = planned(tmp_path, "inventory: hosts.ini\n")
    words = ("-l", "bench", "-p", "2222", "-i", "/k", "10.0.0.1")
    responder = OwnHost(name="responder", given="db", ssh=("-J", "jump", "db"), role="responder", folder="/data")
    assert sorted(plan.hosts, key=lambda host: host.given) == [
        replace(responder, address="192.168.7.5"),
        OwnHost(name="spare", given="spare", ssh=("spare",)),
        OwnHost(name="requester", given="web_1.example", ssh=words, role="requester"),
    ]
    assert topology(plan).ends == {"network": Ends(requesters=("requester",), responder="responder")}


def test_an_inventory_that_ansible_cannot_read_is_refused_with_its_words(tmp_path: Path) -> None:
    (tmp_path / "hosts.yaml").write_text("all: [")
    with pytest.raises(ExperimentError, match="finds no host"):
        planned(tmp_path, "inventory: hosts.yaml\n")
