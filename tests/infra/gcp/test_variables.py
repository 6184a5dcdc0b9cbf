"""What Terraform makes of the module's variables, null and empty ones above all: without the provider, so always."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.terraform

Evaluate = Callable[..., subprocess.CompletedProcess[str]]
OUTPUTS = """
output "seen" {
  value = {
    controller = var.controller_cidr == null ? "null" : "text ${var.controller_cidr}"
    project    = local.project == null ? "null" : "text ${local.project}"
    endpoint   = local.compute_endpoint == null ? "null" : "text ${local.compute_endpoint}"
    user       = "${local.ssh_user} ${local.through_iap} ${local.family["a"]}"
  }
}
"""
KEY = "ssh-ed25519 AAAA test"


@pytest.fixture
def evaluate(infra: Path, run_terraform: Evaluate, tmp_path: Path) -> Evaluate:
    """Terraform on the module's variables alone, which need no provider, with what they are as output."""
    folder = tmp_path / "variables"
    folder.mkdir()
    for name in ("variables.tf", "settings.tf"):
        shutil.copy(infra / "gcp" / name, folder)
    (folder / "outputs.tf").write_text(OUTPUTS)

    def run(*arguments: str, file: dict[str, Any] | None = None, **changes: str) -> subprocess.CompletedProcess[str]:
        variables = {"run_id": "t", "ttl_seconds": 60, "ssh_public_key": KEY, "host_keys": {}}
        variables["hosts"] = {"a": {"role": "both", "zone": "us-west1-a", "machine": "e2-micro"}}
        (folder / "t.auto.tfvars.json").write_text(json.dumps({**variables, **(file or {})}))
        assert run_terraform(folder, "init", "-input=false", **changes).returncode == 0
        return run_terraform(folder, "plan", "-input=false", "-no-color", *arguments, **changes)

    return run


def seen(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    assert done.returncode == 0, done.stderr
    lines = [line.split("=", 1) for line in done.stdout.splitlines() if "=" in line and "seen" not in line]
    return {name.strip("+ "): value.strip().strip('"') for name, value in lines}


def test_null_in_the_file_is_null(evaluate: Evaluate) -> None:
    values = seen(evaluate(file={"controller_cidr": None}))
    assert values == {"controller": "null", "project": "null", "endpoint": "null", "user": "orch false e2"}


def test_the_word_null_is_refused_wherever_it_comes_from(evaluate: Evaluate) -> None:
    done = evaluate("-var=controller_cidr=null")
    assert done.returncode != 0
    assert "controller_cidr is a range of IPv4 addresses" in " ".join(done.stderr.split())
    for variable, words in (("TF_VAR_project", "project is a project's id"), ("TF_VAR_compute_endpoint", "an address")):
        done = evaluate(**{variable: "null"})
        assert done.returncode != 0, variable
        assert words in " ".join(done.stderr.split())


def test_values_arrive_as_they_are(evaluate: Evaluate) -> None:
    given = {"TF_VAR_project": "example.com:my-project-1", "TF_VAR_compute_endpoint": "http://127.0.0.1:1/compute/v1/"}
    assert seen(evaluate(file={"controller_cidr": "203.0.113.7/32"}, **given)) == {
        "controller": "text 203.0.113.7/32",
        "project": "text example.com:my-project-1",
        "endpoint": "text http://127.0.0.1:1/compute/v1/",
        "user": "orch false e2",
    }


def test_a_controller_behind_iap_and_an_account_of_os_login(evaluate: Evaluate) -> None:
    account = {"TF_VAR_os_login": "Ada.L@example.com"}
    assert seen(evaluate(file={"controller_cidr": "35.235.240.0/20"}, **account))["user"] == "ada_l_example_com true e2"
    service = {"TF_VAR_os_login": "x@p.iam.gserviceaccount.com", "TF_VAR_ssh_user": "sa_123"}
    assert seen(evaluate(**service))["user"] == "sa_123 false e2"
    assert evaluate(TF_VAR_os_login="ada").returncode != 0
