"""Fixtures for everything under infra/: where it is, what this machine can do, and deployments that clean up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

INFRA = Path(__file__).resolve().parents[2] / "infra"
# The programs of infra are no part of orch's package: their folder is the import path, as when Terraform calls them.
sys.path.insert(0, str(INFRA / "lab"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from deployments import Deployment  # noqa: E402  (found through the path set above)

from tests.support.lab import why_not  # noqa: E402


@pytest.fixture(scope="session")
def infra() -> Path:
    return INFRA


@pytest.fixture(scope="session")
def terraform() -> str:
    """terraform or tofu, whichever is there."""
    program = shutil.which("terraform") or shutil.which("tofu")
    if program is None:
        pytest.skip("neither terraform nor tofu is installed")
    return program


@pytest.fixture(scope="session")
def lab_machine() -> None:
    """A machine that can be a lab."""
    if reason := why_not():
        pytest.skip(reason)


@pytest.fixture(scope="module")
def deploy(
    terraform: str, lab_machine: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Deployment]]:
    """Prepare lab deployments, each with a run id of its own; afterwards all of them are swept, whatever happened."""
    made: list[Deployment] = []

    def prepare(**variables: object) -> Deployment:
        folder = tmp_path_factory.mktemp("deployment")
        folder.chmod(0o700)
        deployment = Deployment(terraform=terraform, module=INFRA / "lab", folder=folder, variables=variables)
        made.append(deployment)
        return deployment

    yield prepare
    for deployment in made:
        deployment.provider("sweep", "--run-id", deployment.run_id)


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """An environment for Terraform that writes nothing into the module's folder and asks nobody for news."""
    return {**os.environ, "TF_IN_AUTOMATION": "1", "CHECKPOINT_DISABLE": "1", "TF_VAR_python": sys.executable}


@pytest.fixture(scope="session")
def run_terraform(terraform: str, environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Terraform in a folder; `changes` are of its environment."""

    def run(folder: Path, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
        command = [terraform, f"-chdir={folder}", *words]
        own = {**environment, **changes}
        return subprocess.run(command, env=own, capture_output=True, text=True, timeout=100, check=False)

    return run
