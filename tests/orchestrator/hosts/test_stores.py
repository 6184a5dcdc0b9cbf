"""What hosts of role `store` are told, and by which address the responder beside each reaches its database."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.experiment.plan.plan import Placement
from orchestrator.experiment.plan.topology import topology
from orchestrator.hosts.provision import ansible, deployment
from orchestrator.hosts.provision.wheelhouse import Bundle, Target
from orchestrator.hosts.remote.fleet import RemoteFleet
from tests.support.inventories import installed
from tests.support.plans import plan

TARGET = Target(python="3.11.2", machine="x86_64", glibc=(2, 36))
FAR = Placement(id="far", name="far", kind="cross-region", from_zone="us-central1-a", to_zone="us-west1-a")
PLAN = plan(provider="lab", machine="lab", placements=(FAR,), makes_stores=True)
SSH = {"user": "root", "sudo": False}
HOSTS = {
    "requester-1": {"role": "requester", "disk": "requester", "address": "198.18.0.10", "ssh": SSH},
    "responder-1": {"role": "responder", "disk": "responder", "address": "198.18.0.11", "ssh": SSH},
    "store-1": {"role": "store", "disk": "store", "address": "198.18.0.12", "ssh": SSH},
}


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bundle:
    made = Bundle(path=tmp_path / "postgresql.tar", digest="0123456789ab")
    monkeypatch.setattr(deployment, "wheelhouse", lambda lock, target, cache: made if lock.is_file() else None)
    return made


def test_the_password_is_made_once_and_lies_among_the_keys_alone(tmp_path: Path, bundle: Bundle) -> None:
    first, again = (deployment.databases(PLAN, tmp_path, HOSTS, TARGET, tmp_path) for _ in range(2))
    assert first == again
    variables, dsns = first
    file = Path(variables["orch_postgresql_password"])
    assert file.parent == tmp_path
    assert file.stat().st_mode & 0o777 == 0o600
    password = file.read_text()
    assert len(password) >= 24
    assert dsns == {"store-1": f"host=198.18.0.12 port=5432 dbname=postgres user=orch password={password}"}
    assert password not in str(variables)
    assert variables["orch_postgresql_connections"] > 10


def test_stores_are_a_group_of_their_own_with_variables_of_their_own(tmp_path: Path, bundle: Bundle) -> None:
    variables, _ = deployment.databases(PLAN, tmp_path, HOSTS, TARGET, tmp_path)
    of_all = ansible.inventory(HOSTS, tmp_path / "ssh_config", bundle, installed(HOSTS, bundle), variables)["all"]
    assert {name: list(group["hosts"]) for name, group in of_all["children"].items()} == {"stores": ["store-1"]}
    assert of_all["children"]["stores"]["vars"]["orch_postgresql"] == str(bundle.path)
    assert "orch_postgresql" not in of_all["vars"]
    assert of_all["hosts"]["store-1"]["orch_address"] == "198.18.0.12"


def test_a_placement_has_the_database_that_stands_with_its_responder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RemoteFleet, "_cpus_of", lambda self, host: set())
    members: Any = {name: SimpleNamespace(name=name) for name in HOSTS}
    fleet = RemoteFleet(
        members=members, topology=topology(PLAN), pin="off", look=dict, databases={"store-1": "password=secret"}
    )
    assert fleet.pair("far").database == "password=secret"
    assert "secret" not in repr(fleet) + repr(fleet.pair("far"))
    assert [host.name for host in fleet.hosts()] == list(HOSTS)
