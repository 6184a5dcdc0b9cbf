"""`make lint` validates each module that it can, and names the others: with a Terraform that answers as told."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "infra" / "validate.sh"
UNREACHED = "Error: Failed to query available provider packages"


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    for name in ("near", "far"):
        (tmp_path / "infra" / name).mkdir(parents=True)
        (tmp_path / "infra" / name / "main.tf").touch()
    shutil.copy(SCRIPT, tmp_path / "infra")
    return tmp_path


def lint(modules: Path, *, init: str = "", validate: str = "") -> subprocess.CompletedProcess[str]:
    """Call it; `init` and `validate` are what goes wrong with the module `far`."""
    program = modules / "bin" / "terraform"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\ncase "$*" in\n*far*init*) echo "{init}"; [ -z "{init}" ];;\n'
        f'*far*validate*) echo "{validate}"; [ -z "{validate}" ];;\nesac\n'
    )
    program.chmod(0o755)
    return subprocess.run(
        [modules / "infra" / "validate.sh"],
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_module_is_validated(modules: Path) -> None:
    done = lint(modules)
    assert done.returncode == 0, done.stderr
    assert "infra/near is valid" in done.stdout
    assert "infra/far is valid" in done.stdout


def test_one_whose_provider_cannot_be_fetched_is_named_with_the_reason(modules: Path) -> None:
    done = lint(modules, init=UNREACHED)
    assert done.returncode == 0, done.stderr
    assert "infra/near is valid" in done.stdout
    assert f"infra/far is not validated: {UNREACHED}" in done.stdout


def test_one_that_is_wrong_fails(modules: Path) -> None:
    assert lint(modules, validate="Error: Unsupported argument").returncode != 0


def test_one_that_cannot_be_read_fails(modules: Path) -> None:
    done = lint(modules, init="Error: Invalid block definition")
    assert done.returncode == 1
    assert "Invalid block definition" in done.stderr
