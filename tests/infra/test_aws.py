"""The module of AWS, without AWS: its text, and what its networks, routes and first boots are computed to be."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

KEY = "ssh-ed25519 AAAA made for a test"
ZONES = {"a": "us-east-1a", "b": "us-east-1b", "c": "eu-west-3c", "d": "ap-northeast-1d"}
LAYOUT = ("regions", "networks", "subnets", "pairs", "ways", "images", "host_public_keys", "first_boot")


@pytest.fixture
def layout(infra: Path, run_terraform: Any, tmp_path: Path) -> dict[str, Any]:
    """The locals of `layout.tf`, as Terraform computes them for four hosts in three regions; it needs no provider."""
    for name in ("layout.tf", "variables.tf", "settings.tf"):
        shutil.copy(infra / "aws" / name, tmp_path)
    values = "\n".join(f"    {name} = local.{name}" for name in LAYOUT)
    (tmp_path / "outputs.tf").write_text(f'output "layout" {{\n  value = {{\n{values}\n  }}\n}}\n')
    (tmp_path / "key").write_text("PRIVATE\n")
    variables = {
        "run_id": "o1",
        "hosts": {
            name: {"role": "both", "zone": zone, "machine": "m7g.large" if name == "d" else "t3.micro"}
            for name, zone in ZONES.items()
        },
        "ttl_seconds": 3600,
        "ssh_public_key": KEY,
        "host_keys": {name: {"private_key_path": str(tmp_path / "key"), "public_key": KEY} for name in ZONES},
        "controller_cidr": "203.0.113.7/32",
        "account": "123456789012",
    }
    (tmp_path / "terraform.tfvars.json").write_text(json.dumps(variables))
    for words in (["init"], ["apply", "-auto-approve"]):
        done = run_terraform(tmp_path, *words, "-input=false", "-no-color")
        assert done.returncode == 0, done.stdout + done.stderr
    computed: dict[str, Any] = json.loads((tmp_path / "terraform.tfstate").read_text())["outputs"]["layout"]["value"]
    return computed


@pytest.mark.terraform
def test_every_region_has_a_network_and_a_route_to_each_other_one(layout: dict[str, Any]) -> None:
    regions = ["ap-northeast-1", "eu-west-3", "us-east-1"]
    assert layout["regions"] == regions
    assert layout["networks"] == dict(zip(regions, ("10.130.0.0/20", "10.130.16.0/20", "10.130.32.0/20"), strict=True))
    assert layout["subnets"] == {
        "ap-northeast-1d": "10.130.0.0/24",
        "eu-west-3c": "10.130.17.0/24",
        "us-east-1a": "10.130.34.0/24",
        "us-east-1b": "10.130.35.0/24",
    }
    pairs = ["ap-northeast-1 eu-west-3", "ap-northeast-1 us-east-1", "eu-west-3 us-east-1"]
    assert sorted(layout["pairs"]) == pairs
    ways = {(way["from"], way["to"]): way["pair"] for way in layout["ways"].values()}
    assert ways == {(a, b): " ".join(sorted((a, b))) for a in regions for b in regions if a != b}
    assert sorted(layout["images"]) == ["ap-northeast-1 arm64", "eu-west-3 amd64", "us-east-1 amd64"]


@pytest.mark.terraform
def test_a_host_has_its_key_and_its_end_from_its_first_boot(layout: dict[str, Any]) -> None:
    boot = layout["first_boot"]["c"]
    assert boot["ssh_keys"] == {"ed25519_private": "PRIVATE\n", "ed25519_public": "ssh-ed25519 AAAA"}
    assert boot["users"][0]["ssh_authorized_keys"] == [KEY]
    timer = boot["bootcmd"][0]
    assert (timer[0], timer[-1]) == ("systemd-run", "poweroff")
    assert {"--no-block", "--on-active=3600s"} <= set(timer)


def test_an_instance_ends_with_its_power_and_its_account_is_given(infra: Path) -> None:
    text = (infra / "aws" / "main.tf").read_text()
    assert 'instance_initiated_shutdown_behavior = "terminate"' in text
    assert re.search(r"delete_on_termination = true", text)
    assert "instance_market_options" not in text
    assert "iam_instance_profile" not in text
    assert "allowed_account_ids = [var.account]" in text
    assert re.search(r"cidr_ipv4 +=\s+var\.controller_cidr\n +ip_protocol +=\s+\"tcp\"\n +from_port +=\s+22\n", text)
    assert re.findall(r"cidr_ipv4 +=\s+(.*)", text) == ["var.controller_cidr", "local.range", '"0.0.0.0/0"']


def test_every_resource_names_its_region(infra: Path) -> None:
    for block in re.split(r"\n(?=resource |data )", (infra / "aws" / "main.tf").read_text())[1:]:
        assert re.search(r"^  region +=", block, flags=re.MULTILINE), block.splitlines()[0]


@pytest.mark.terraform
@pytest.mark.parametrize("account", ["", "12345678901", "123456789012x"])
def test_without_an_account_nothing_is_planned(infra: Path, run_terraform: Any, tmp_path: Path, account: str) -> None:
    shutil.copy(infra / "aws" / "settings.tf", tmp_path)
    assert run_terraform(tmp_path, "init").returncode == 0
    done = run_terraform(tmp_path, "plan", TF_VAR_account=account)
    assert done.returncode != 0
    assert "TF_VAR_account=123456789012" in done.stderr
