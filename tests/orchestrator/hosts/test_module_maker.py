"""A module without a program of its own: what is made of its outputs, and what a receipt says by its state alone."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan.own.own_module import PROGRAMS
from orchestrator.experiment.plan.plan import Placement, Plan
from orchestrator.hosts.provision.deployment import RemoteDeployment
from orchestrator.hosts.provision.deployments import Registry, deployment_id
from orchestrator.hosts.provision.makers import ModuleMaker, maker_of, preview
from orchestrator.hosts.provision.takedown import take_down
from orchestrator.workspace import Workspace
from tests.support.lab import Diary
from tests.support.plans import plan

pytestmark = [
    pytest.mark.busy,
    pytest.mark.terraform,
    pytest.mark.skipif(not any(map(shutil.which, PROGRAMS)), reason="neither terraform nor tofu is on the PATH"),
]
REGISTRY = Registry(Workspace().deployments)
RUN = f"run-{uuid4().hex}"  # a teardown ends every process on this machine that carries its name
ID = deployment_id(RUN)
SSH = '{ user = "me", host_name = "127.0.0.1", port = 1 }'
HOSTS = f'{{ for name in keys(var.hosts) : name => {{ address = "127.0.0.1", ssh = {SSH} }} }}'
MODULE = """
variable "hosts" {{}}
resource "terraform_data" "host" {{
  for_each = var.hosts
}}
output "hosts" {{
  value = {hosts}
}}
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


def planned(module: Path, hosts: str = HOSTS, head: str = "") -> Plan:
    (module / "main.tf").write_text(head + MODULE.format(hosts=hosts))
    near = Placement(id="local", name="near", kind="same-zone", from_zone="a", to_zone="a")
    return plan(provider="terraform", machine="default", placements=(near,), module="mine", repeats=1)


def deployment(wanted: Plan) -> RemoteDeployment:
    return RemoteDeployment(wanted, Diary(Path(RUN)), Workspace())


def test_what_the_module_does_not_say_follows_from_what_it_was_given(module: Path) -> None:
    wanted = planned(module)
    assert preview(wanted)[1] == ""
    made = deployment(wanted)
    made.provision()
    maker = maker_of("terraform", REGISTRY.folder_of(ID))
    assert isinstance(maker, ModuleMaker)
    host = maker.make(wanted, is_new=False)["hosts"]["responder-1"]
    key = (REGISTRY.folder_of(ID) / "keys" / "responder-1.pub").read_text().split()[:2]
    assert host == {
        "role": "responder",
        "zone": "a",
        "machine": "default",
        "instance": f"orch-{ID}-responder-1",
        "address": "127.0.0.1",
        "disk": f"orch-{ID}-responder-1",
        "ssh": {
            "user": "me",
            "host_name": "127.0.0.1",
            "port": 1,
            "alias": "127.0.0.1",
            "sudo": True,
            "proxy_command": None,
            "known_hosts": f"127.0.0.1 {' '.join(key)}",
        },
    }
    status = maker.status()
    assert {name: seen["alive"] for name, seen in status["hosts"].items()} == {
        "requester-1": False,
        "responder-1": False,
    }
    receipt = made.teardown()
    assert (set(receipt.destroyed), receipt.open) == ({"requester-1", "responder-1"}, ())
    assert [path.name for path in module.iterdir()] == ["main.tf"]
    assert deployment(wanted).teardown().open == ()


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ("{}", r"there is no output `hosts` that maps names to hosts"),
        ('{ responder-1 = { address = "1" } }', r"hosts\.responder-1\.ssh: Field required"),
        (
            f'{{ responder = {{ address = "1", ssh = {SSH} }} }}',
            r"`hosts` has responder, and not responder-1, requester-1",
        ),
    ],
)
def test_outputs_that_are_no_hosts_are_refused_and_what_was_made_goes(module: Path, hosts: str, words: str) -> None:
    made = deployment(planned(module, hosts))
    with pytest.raises(ProvisionError, match=words):
        made.provision()
    assert made.teardown().open == ()


def test_a_backend_of_the_modules_own_is_refused_before_anything_is_made(module: Path) -> None:
    made = deployment(
        planned(module, head='terraform {\n  backend "http" {\n    address = "http://127.0.0.1:1"\n  }\n}\n')
    )
    with pytest.raises(ProvisionError, match='"path" given on the command line is not expected'):
        made.provision()
    assert made.teardown().open == ()


def test_hosts_that_only_a_state_knows_are_left_or_unknown(module: Path) -> None:
    made = deployment(planned(module))
    made.provision()
    state = REGISTRY.folder_of(ID) / "terraform.tfstate"
    kept = state.read_text()
    intent = REGISTRY.read(ID)
    (module / "main.tf").write_text("{")
    receipt = take_down(REGISTRY, intent)
    assert (receipt.destroyed, len(receipt.unknown)) == ((), 2)
    (module / "main.tf").write_text(MODULE.format(hosts=HOSTS))
    state.unlink()
    receipt = take_down(REGISTRY, intent)
    assert (receipt.destroyed, receipt.unknown) == ((), (f"all of orch-{ID} (there is no state {state} any more)",))
    state.write_text(kept)
    assert set(take_down(REGISTRY, replace(intent, state="intended")).destroyed) == {"requester-1", "responder-1"}
