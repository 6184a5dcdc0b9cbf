"""The hosted workflow and the provider lock: what can be held to account without a hosted runner or a registry."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
PLATFORMS = 4  # linux and darwin, amd64 and arm64


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    return yaml.safe_load(TEXT)


def test_the_workflow_may_read_and_nothing_else(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in workflow["jobs"].values())
    assert "secrets." not in TEXT
    assert "pull_request_target" not in TEXT


def test_every_job_ends_by_itself_and_a_newer_push_ends_an_older_one(workflow):
    assert all(0 < job["timeout-minutes"] <= 60 for job in workflow["jobs"].values())
    assert workflow["concurrency"]["group"]


def test_every_action_is_pinned_by_a_commit_with_its_release_beside_it():
    files = [ROOT / "action.yml", *(ROOT / ".github/workflows").iterdir()]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    uses = re.findall(r"^ *- uses: ([^.].*)", text, re.MULTILINE)
    assert uses
    assert [use for use in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)] == []


def test_checkouts_leave_no_credentials_behind(workflow):
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    checkouts = [step for step in steps if step.get("uses", "").startswith("actions/checkout@")]
    assert len(checkouts) == len(workflow["jobs"])
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_it_calls_make_targets_that_exist(workflow):
    commands = " ".join(step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"])
    targets = set(re.findall(r"make ([a-z-]+)", commands))
    defined = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"lint", "test-all", "test-heavy", "lab", "run", "scan-secrets", "scan-dependencies"} <= targets <= defined


def test_it_tests_two_pythons_that_the_project_supports(workflow):
    versions = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert len(versions) == 2
    assert all(isinstance(version, str) and tuple(map(int, version.split("."))) >= (3, 11) for version in versions)


def test_no_file_of_ours_names_a_package_registry():
    files = [ROOT / ".github/workflows/ci.yml", ROOT / "Makefile", *sorted((ROOT / "locks").iterdir())]
    assert [file.name for file in files if re.search(r"https?://|index-url", file.read_text(encoding="utf-8"))] == []


def test_the_provider_is_locked_for_the_usual_platforms_or_the_docs_say_that_it_is_not():
    tracked = subprocess.run(
        ["git", "ls-files", "infra/gcp/.terraform.lock.hcl"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    docs = [
        " ".join((ROOT / name).read_text(encoding="utf-8").split())
        for name in ("SECURITY.md", "docs/how-to/measure-over-a-distance.md")
    ]
    admitted = ["`infra/gcp/.terraform.lock.hcl` does not exist" in text for text in docs]
    if tracked:
        lock = (ROOT / tracked).read_text(encoding="utf-8")
        assert lock.count('"h1:') >= PLATFORMS, "make lock-providers"
        assert not any(admitted), (
            "the lock is there: SECURITY.md and docs/how-to/measure-over-a-distance.md say that it is not"
        )
    else:
        assert all(admitted)
        assert all("make lock-providers" in text for text in docs)
