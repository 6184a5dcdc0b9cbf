"""infra/gcp driven by Terraform against the fake Compute API, where the google provider is installed on this machine.

Nothing is downloaded: the provider must lie in one of Terraform's plugin folders (`terraform providers mirror` puts it
there), or in the folder that ORCH_TEST_PLUGINS names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deployments import make_key
from fake_compute import FakeCompute

# Against a fake, the provider also asks a fixed Google address who the user is, and gives up only after minutes.
pytestmark = [pytest.mark.busy, pytest.mark.terraform, pytest.mark.slow, pytest.mark.timeout(900)]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def plugins() -> Path:
    named = os.environ.get("ORCH_TEST_PLUGINS")
    places = (
        [Path(named)] if named else [Path.home() / ".terraform.d" / "plugins", Path("/usr/share/terraform/plugins")]
    )
    for place in places:
        if any(place.rglob("terraform-provider-google_*")):
            return place
    pytest.skip(f"the google provider is not installed: no terraform-provider-google in {', '.join(map(str, places))}")


@pytest.fixture
def module(infra: Path, terraform: str, plugins: Path, cloud: dict[str, str], tmp_path: Path) -> Run:
    """Terraform on a copy of the module (init writes a lock file), with variables for two hosts."""
    copy = shutil.copytree(infra / "gcp", tmp_path / "gcp")
    variables: dict[str, Any] = {
        "run_id": "test1",
        "ttl_seconds": 3600,
        "controller_cidr": "203.0.113.250/32",
        "labels": {"owner": "tests"},
        "ssh_public_key": make_key(tmp_path / "user"),
        "hosts": {
            "requester": {"role": "requester", "zone": "us-west1-a", "machine": "f1-micro"},
            "responder": {"role": "responder", "zone": "us-central1-a", "machine": "e2-micro"},
        },
    }
    variables["host_keys"] = {
        name: {"private_key_path": str(tmp_path / name), "public_key": make_key(tmp_path / name)}
        for name in variables["hosts"]
    }
    (copy / "test.auto.tfvars.json").write_text(json.dumps(variables))

    def run(verb: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [terraform, f"-chdir={copy}", verb, "-no-color", *arguments]
        return subprocess.run(command, env=cloud, capture_output=True, text=True, timeout=600, check=False)

    done = run("init", "-input=false", f"-plugin-dir={plugins}", f"-backend-config=path={tmp_path / 'state'}")
    assert done.returncode == 0, done.stderr
    return run


def test_the_module_is_valid(module: Run) -> None:
    done = module("validate")
    assert done.returncode == 0, done.stderr


def test_apply_then_no_changes_then_destroy(module: Run, compute: FakeCompute, ask: Callable[..., Any]) -> None:
    done = module("apply", "-auto-approve", "-input=false")
    assert done.returncode == 0, done.stderr
    instance = compute.things["zones/us-west1-a/instances/orch-test1-requester"]
    assert instance["scheduling"]["maxRunDuration"]["seconds"] == "3600"
    assert instance["labels"]["orch-run"] == "test1"
    assert instance["labels"]["owner"] == "tests"
    assert not instance.get("serviceAccounts")

    hosts = json.loads(module("output", "-json", "hosts").stdout)
    assert hosts["requester"]["ssh"]["proxy_command"] is None
    assert hosts["requester"]["ssh"]["known_hosts"].startswith(
        f"orch-test1-requester,{hosts['requester']['ssh']['host_name']} "
    )
    assert module("plan", "-detailed-exitcode", "-input=false").returncode == 0
    assert ask("status", "--run-id", "test1")[1]["hosts"]["responder"]["alive"]

    assert module("destroy", "-auto-approve", "-input=false").returncode == 0
    assert compute.things == {}


def test_a_zone_without_capacity_leaves_nothing_after_destroy(module: Run, compute: FakeCompute) -> None:
    compute.failing["POST instances/orch-test1-responder"] = "ZONE_RESOURCE_POOL_EXHAUSTED"
    done = module("apply", "-auto-approve", "-input=false")
    assert done.returncode != 0
    assert "ZONE_RESOURCE_POOL_EXHAUSTED" in done.stderr
    assert module("destroy", "-auto-approve", "-input=false").returncode == 0
    assert compute.things == {}


def test_without_the_controllers_address_nothing_is_planned(module: Run, compute: FakeCompute, tmp_path: Path) -> None:
    # As orch hands it over: null in a file of JSON. `-var=controller_cidr=null` would be the word "null".
    (tmp_path / "null.tfvars.json").write_text('{"controller_cidr": null}')
    done = module("plan", "-input=false", f"-var-file={tmp_path / 'null.tfvars.json'}")
    assert done.returncode != 0
    assert "controller_cidr is needed" in " ".join(done.stderr.split())
    assert [request for request in compute.requests if request[0] != "GET"] == []
