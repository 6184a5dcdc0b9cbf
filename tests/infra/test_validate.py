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


@pytest.mark.parametrize(
    ("answers", "code", "text"),
    [
        ({}, 0, "infra/far is valid"),
        ({"init": UNREACHED}, 0, f"infra/far is not validated: {UNREACHED}"),
        ({"init": "Error: Invalid block definition"}, 1, "Invalid block definition"),
        ({"validate": "Error: Unsupported argument"}, 1, "Unsupported argument"),
    ],
)
def test_a_module_that_is_wrong_fails_and_one_whose_provider_is_not_there_is_named(
    modules: Path, answers: dict[str, str], code: int, text: str
) -> None:
    done = lint(modules, **answers)
    assert done.returncode == code, done.stderr
    assert text in done.stdout + done.stderr
    assert "infra/near is valid" in done.stdout or code
