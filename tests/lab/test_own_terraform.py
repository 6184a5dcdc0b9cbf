"""A Terraform module of one's own, which makes hosts of the lab: a run, a kill, and hosts that exist already."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.hosts.provision.deployments import Registry
from orchestrator.workspace import Workspace
from tests.lab.test_lifecycle import DYING
from tests.support.lab import CACHE, MACHINE, ROOT, carriers, on_hosts
from tests.support.own_hosts import make_key

REGISTRY = Registry(Workspace().deployments)
pytestmark = on_hosts(500)
ORCH = ["-c", "from orchestrator.cli.main import main; main()"]
HOSTS = ("requester-1", "responder-1")
MODULE = f"""
variable "run_id" {{}}
variable "hosts" {{ type = any }}
variable "ttl_seconds" {{}}
variable "ssh_public_key" {{}}
variable "host_keys" {{ type = any }}
variable "python" {{}}
variable "identity_file" {{ default = null }}

module "lab" {{
  source         = "../common"
  run_id         = var.run_id
  hosts          = {{ for name, host in var.hosts : name => merge(host, {{ zone = "here-a", machine = "{MACHINE}" }}) }}
  ttl_seconds    = var.ttl_seconds
  ssh_public_key = var.ssh_public_key
  host_keys      = var.host_keys
  python         = var.python
}}

output "hosts" {{
  value = {{ for name, host in module.lab.hosts : name => {{
    address = host.address
    disk    = host.disk
    ssh     = merge(host.ssh, {{ identity_file = var.identity_file }})
  }} }}
}}
"""
EXPERIMENT = """\
name: tiny
question: Does it run?
provider: terraform
module: ./mine
placements: same-zone
stacks: [tcp]
operations: [{echo: {bytes: 64 B}}]
load: {concurrency: 2, duration: 300ms}
warmup: {requests: 5, at_least: 0s}
repeats: 1
limits: {wall: 10m, ttl: 15m, cost: 0 USD}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the experiment and the module, which takes another one from the folder beside it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORCH_CACHE", str(CACHE))
    (tmp_path / "common").symlink_to(ROOT / "infra" / "lab")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "main.tf").write_text(MODULE)
    (tmp_path / "tiny.yaml").write_text(EXPERIMENT)
    return tmp_path


def orch(*words: str, program: list[str] = ORCH) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *program, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, stdin=subprocess.DEVNULL)


def test_a_run_makes_hosts_with_it_and_leaves_nothing(folder: Path) -> None:
    done = orch("run", "tiny.yaml")
    said = done.stdout + done.stderr
    assert done.returncode in (0, 5), said  # on a busy machine a check of the numbers may fail
    assert "receipt (terraform): 2 created, 2 destroyed, nothing left" in said
    (intent,) = REGISTRY.intents()
    assert (intent.hosts, intent.state) == (("responder-1", "requester-1"), "down")
    assert carriers(intent.id) == []
    assert [path.name for path in (folder / "mine").iterdir()] == ["main.tf"]
    assert list(folder.rglob("terraform.tfstate*")) == []


@pytest.mark.parametrize(
    ("place", "delay_s"),
    [
        ("orchestrator.hosts.provision.terraform:Terraform.apply", 0.7),
        ("orchestrator.hosts.provision.ansible:deploy", 0.5),
    ],
)
def test_after_a_kill_teardown_leaves_nothing(place: str, delay_s: float) -> None:
    done = orch(place, "1", str(delay_s), "run", "tiny.yaml", program=["-c", DYING])
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr
    (intent,) = REGISTRY.standing()
    status = json.loads(orch("status", "--json").stdout)
    assert [entry["run"] for entry in status["deployments"]] == [intent.run_id]
    ended = orch("teardown")
    assert "receipt (terraform): 2 created, 2 destroyed, nothing left" in ended.stdout + ended.stderr
    assert (carriers(intent.id), REGISTRY.standing()) == ([], [])


def test_hosts_that_exist_are_used_and_stay(folder: Path) -> None:
    key = folder / "key"
    variables = {
        "run_id": f"t{os.getpid()}",
        "hosts": {name: {"role": name.split("-")[0]} for name in HOSTS},
        "ttl_seconds": 900,
        "ssh_public_key": make_key(key),
        "host_keys": {
            name: {"private_key_path": str(folder / name), "public_key": make_key(folder / name)} for name in HOSTS
        },
        "python": sys.executable,
        "identity_file": str(key),
    }
    (folder / "mine" / "terraform.tfvars.json").write_text(json.dumps(variables))

    def terraform(*words: str) -> None:
        subprocess.run(["terraform", "-chdir=mine", *words], check=True, capture_output=True, timeout=120)

    terraform("init")
    try:
        terraform("apply", "-auto-approve")
        text = EXPERIMENT.replace("provider: terraform\nmodule:", "provider: ssh\nstate:")
        (folder / "tiny.yaml").write_text(text)
        done = orch("run", "tiny.yaml")
        said = done.stdout + done.stderr
        assert done.returncode in (0, 5), said
        assert "receipt (ssh): 2 created, 2 destroyed, nothing left" in said
        assert len([trace for trace in carriers(str(variables["run_id"])) if trace.startswith("namespace")]) == 2
    finally:
        terraform("destroy", "-auto-approve")
