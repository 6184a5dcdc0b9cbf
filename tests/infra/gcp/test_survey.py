"""What the cloud itself answers before anything is made: one finding per question, and a hint for each that fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_compute import FakeCompute

from tests.support.called import Called, orch

Ask = Callable[..., tuple[int, Any, str]]
IAP = {"ORCH_CONTROLLER_CIDR": "35.235.240.0/20"}
HOSTS = ("--host", "us-central1-a:e2-micro", "--host", "us-central1-a:e2-micro", "--host", "us-west1-a:f1-micro")


def failing(answer: Any) -> dict[str, dict[str, str]]:
    return {finding["name"]: finding for finding in answer["findings"] if not finding["ok"]}


def test_where_all_is_well_every_question_was_asked_once(ask: Ask, compute: FakeCompute) -> None:
    code, answer, words = ask("check", *HOSTS)
    assert (code, failing(answer), words) == (0, {}, "")
    assert {f["name"]: f["what"] for f in answer["findings"]} == {
        "token": "from GOOGLE_OAUTH_ACCESS_TOKEN",
        "project": "demo, named by GOOGLE_PROJECT; the Compute Engine API answers",
        "permissions": "all 34 that making and deleting hosts needs",
        "public addresses": "the organisation allows it",
        "logging in without OS Login": "the organisation allows it",
        "image": "debian-cloud/debian-12 is debian-12-bookworm-v20260110",
        "e2-micro in us-central1-a": "2 CPUs, 1024 MB",
        "f1-micro in us-west1-a": "1 CPUs, 1024 MB",
        "quota of demo": "enough for 1 NETWORKS (free: 5), 2 FIREWALLS (free: 100), 2 SUBNETWORKS (free: 100),"
        " 5 CPUS_ALL_REGIONS (free: 32)",
        "quota in us-central1": "enough for 4 CPUS (free: 24), 2 INSTANCES (free: 24), 2 IN_USE_ADDRESSES (free: 8),"
        " 20 DISKS_TOTAL_GB (free: 4096)",
        "quota in us-west1": "enough for 1 CPUS (free: 24), 1 INSTANCES (free: 24), 1 IN_USE_ADDRESSES (free: 8),"
        " 10 DISKS_TOTAL_GB (free: 4096)",
    }
    assert len(compute.requests) == 9
    posted = [path.partition(":")[2] for method, path in compute.requests if method != "GET"]
    assert posted == ["testIamPermissions", "getEffectiveOrgPolicy", "getEffectiveOrgPolicy"]
    assert compute.things == {}


def test_a_token_that_is_refused(ask: Ask, compute: FakeCompute) -> None:
    compute.valid = {"Bearer another"}
    code, answer, _ = ask("check", *HOSTS)
    assert code == 3
    assert failing(answer)["token"]["what"].startswith("the API refuses the token: Request had invalid")
    assert "sign in again" in failing(answer)["token"]["hint"]


def test_an_api_that_is_switched_off(ask: Ask, compute: FakeCompute) -> None:
    compute.is_enabled = False
    _, answer, _ = ask("check", *HOSTS)
    assert failing(answer)["API"]["hint"] == "gcloud services enable compute.googleapis.com --project demo"


@pytest.mark.parametrize("status", [403, 404])
def test_a_project_that_is_not_there_or_not_ours(ask: Ask, compute: FakeCompute, status: int) -> None:
    compute.refused["GET projects"] = (status, "no such project")
    _, answer, _ = ask("check", *HOSTS)
    assert failing(answer)["project"]["what"] == "demo is not there, or this account may not see it: no such project"


def test_no_token_and_no_project_are_both_said(ask: Ask, compute: FakeCompute) -> None:
    code, answer, _ = ask("check", *HOSTS, GOOGLE_PROJECT=None, GOOGLE_OAUTH_ACCESS_TOKEN=None, PATH="/nowhere")
    assert (code, list(failing(answer)), compute.requests) == (3, ["token", "project"], [])


def test_permissions_that_are_lacking_are_named(ask: Ask, compute: FakeCompute) -> None:
    _, whole, _ = ask("check", *HOSTS)
    assert not failing(whole)
    compute.granted = {"compute.projects.get"}
    _, answer, _ = ask("check", *HOSTS)
    assert list(failing(answer)) == ["permissions"]
    assert "compute.instances.create" in failing(answer)["permissions"]["what"]
    assert "compute.projects.get" not in failing(answer)["permissions"]["what"]
    assert "compute.disks.list" in failing(answer)["permissions"]["what"]
    assert "roles/compute.admin" in failing(answer)["permissions"]["hint"]


@pytest.mark.parametrize(
    ("policies", "environment", "findings"),
    [
        ({}, {}, []),
        ({"compute.vmExternalIpAccess": {"listPolicy": {"allValues": "DENY"}}}, {}, ["public addresses"]),
        ({"compute.vmExternalIpAccess": {"listPolicy": {"allValues": "DENY"}}}, IAP, []),
        ({}, {**IAP, "PATH": "/nowhere"}, ["gcloud"]),
        ({"compute.requireOsLogin": {"booleanPolicy": {"enforced": True}}}, {}, ["logging in without OS Login"]),
        ({"compute.requireOsLogin": {"booleanPolicy": {"enforced": True}}}, {"TF_VAR_os_login": "a@example.com"}, []),
    ],
)
def test_what_an_organisation_forbids_has_a_way_out(
    ask: Ask,
    compute: FakeCompute,
    tmp_path: Path,
    policies: dict[str, Any],
    environment: dict[str, str],
    findings: list[str],
) -> None:
    (tmp_path / "gcloud").touch(mode=0o755)
    compute.policies = policies
    compute.quota.used["IN_USE_ADDRESSES"] = 8 if environment.get("ORCH_CONTROLLER_CIDR") else 0
    _, answer, _ = ask("check", *HOSTS, **{"PATH": str(tmp_path), **environment})
    assert list(failing(answer)) == findings


def test_an_arm_machine_boots_an_arm_image(ask: Ask) -> None:
    _, answer, _ = ask("check", "--host", "us-central1-a:t2a-standard-1")
    images = [finding["what"] for finding in answer["findings"] if finding["name"] == "image"]
    assert images == ["debian-cloud/debian-12-arm64 is debian-12-bookworm-arm64-v20260110"]


@pytest.mark.parametrize(
    ("metric", "name", "said"),
    [
        ("CPUS", "quota in us-central1", "4 CPUS (1 are free)"),
        ("INSTANCES", "quota in us-central1", "2 INSTANCES (1 are free)"),
        ("IN_USE_ADDRESSES", "quota in us-central1", "2 IN_USE_ADDRESSES (1 are free)"),
        ("CPUS_ALL_REGIONS", "quota of demo", "5 CPUS_ALL_REGIONS (1 are free)"),
        ("SUBNETWORKS", "quota of demo", "2 SUBNETWORKS (1 are free)"),
    ],
)
def test_quota_that_is_short(ask: Ask, compute: FakeCompute, metric: str, name: str, said: str) -> None:
    compute.quota.used[metric] = compute.quota.limits[metric] - 1
    _, answer, _ = ask("check", *HOSTS)
    assert list(failing(answer)) == [name]
    assert failing(answer)[name]["what"] == f"the hosts need {said}"


def test_a_family_of_machines_has_a_quota_of_its_own(ask: Ask, compute: FakeCompute) -> None:
    compute.quota.limits |= {"N2_CPUS": 1.0, "CPUS": 0.0}
    _, answer, _ = ask("check", "--host", "us-central1-a:n2-standard-2")
    assert failing(answer)["quota in us-central1"]["what"] == "the hosts need 2 N2_CPUS (1 are free)"


def test_a_machine_type_that_a_zone_lacks(ask: Ask) -> None:
    _, answer, _ = ask("check", "--host", "us-central1-a:n9-huge")
    assert "was not found" in failing(answer)["n9-huge in us-central1-a"]["what"]


@pytest.mark.parametrize(
    ("image", "found"),
    [
        ("debian-cloud/debian-11", "debian-11-bullseye-v20260110"),
        ("debian-cloud/debian-12-bookworm-v20251209", "debian-12-bookworm-v20251209"),
        ("projects/debian-cloud/global/images/family/debian-12", "debian-12-bookworm-v20260110"),
        ("debian-cloud/debian-99", None),
        ("debian-12", None),
    ],
)
def test_the_image_that_would_be_booted(ask: Ask, image: str, found: str | None) -> None:
    _, answer, _ = ask("check", *HOSTS, TF_VAR_image=image)
    finding = next(f for f in answer["findings"] if f["name"] == "image")
    assert finding["ok"] == (found is not None)
    assert (found or image) in finding["what"]


def doctor(cloud: dict[str, str], place: Path, *words: str, controller: str = "203.0.113.7/32") -> Called:
    environment = {**cloud, "ORCH_CONTROLLER_CIDR": controller, "COLUMNS": "1000"}
    return orch("doctor", "--for", "gcp", *words, cwd=place, **environment)


@pytest.mark.slow
def test_doctor_says_what_the_cloud_says(cloud: dict[str, str], compute: FakeCompute, tmp_path: Path) -> None:
    compute.quota.used["IN_USE_ADDRESSES"] = 8
    done = doctor(cloud, tmp_path)
    assert done.returncode == 3
    assert "gcp quota in us-west1" in done.stdout
    assert "1 IN_USE_ADDRESSES (0 are free)" in done.stderr
    assert "gcp e2-micro in us-central1-a" in done.stdout
    found = {f["name"]: f for f in json.loads(doctor(cloud, tmp_path, "--json").stdout)["findings"]}
    assert found["gcp permissions"]["is_there"]
    assert not found["gcp quota in us-central1"]["is_there"]
    assert found["controller"]["is_there"]


@pytest.mark.slow
def test_doctor_asks_for_the_hosts_of_the_current_plan(cloud: dict[str, str], tmp_path: Path) -> None:
    text = "name: x\nquestion: Which is faster?\nprovider: gcp\nmachine: e2-small\nstacks: [rest, grpc]\n"
    text += "operations: timestamp\nplacements: {name: far, from: europe-west1-b, to: asia-east1-b}\n"
    (tmp_path / "x.yaml").write_text(text)
    planned = orch("plan", "x.yaml", cwd=tmp_path, **{**cloud, "PATH": "/nowhere"})
    assert planned.returncode == 0, planned.stderr
    found = json.loads(doctor(cloud, tmp_path, "--json").stdout)["findings"]
    assert {f["name"] for f in found} >= {"gcp e2-small in europe-west1-b", "gcp e2-small in asia-east1-b"}
