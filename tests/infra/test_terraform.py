"""What Terraform itself says of the modules: validate, and their native tests."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

pytestmark = pytest.mark.terraform


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def lab_module(infra: Path, run_terraform: Run, tmp_path: Path) -> Run:
    """Terraform on the lab module, initialised without a backend and with a data folder of its own."""
    run = partial(run_terraform, infra / "lab", TF_DATA_DIR=str(tmp_path / "terraform"))
    done = run("init", "-backend=false", "-input=false")
    assert done.returncode == 0, done.stderr
    return run


def test_the_lab_needs_no_provider_and_is_valid(lab_module: Run) -> None:
    done = lab_module("validate", "-no-color")
    assert done.returncode == 0, done.stderr


def test_the_labs_refusals(lab_module: Run) -> None:
    done = lab_module("test", "-no-color", "-filter=tests/refusals.tftest.hcl")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed" in done.stdout


@pytest.mark.busy
@pytest.mark.lab
def test_the_labs_apply(lab_module: Run, lab_machine: None) -> None:
    done = lab_module("test", "-no-color", "-filter=tests/apply.tftest.hcl")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not Path("/var/lib/orch-lab/tfapply").exists()


def test_scripts_are_clean(infra: Path) -> None:
    try:
        done = subprocess.run(
            ["shellcheck", *map(str, infra.rglob("*.sh"))], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("shellcheck is not installed")
    assert done.returncode == 0, done.stdout
