"""orch as an installed package: sources of other languages come along, what was built of them does not, and it builds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.tiny_language import STACK, write_tiny

ROOT = Path(__file__).parents[1]
PARTS = ("orchestrator", "protos", "services", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")


@pytest.mark.slow
@pytest.mark.busy
def test_a_package_builds_the_programs_of_its_languages_where_it_is_installed(tmp_path: Path) -> None:
    checkout, site = tmp_path / "checkout", tmp_path / "site"
    checkout.mkdir()
    made = shutil.ignore_patterns("__pycache__", "*.pyc", "build", "target", "node_modules")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, checkout / part, ignore=made)
        else:
            shutil.copy(ROOT / part, checkout / part)
    write_tiny(tmp_path / "elsewhere", sources=["protos/process.md", "protos/schemas"])
    tiny = checkout / "services" / "tiny"
    shutil.copytree(tmp_path / "elsewhere" / "tiny", tiny)
    for left in ("build/respond", "build/built.json", "node_modules/a/package.json", "target/x.json"):
        (tiny / left).parent.mkdir(parents=True, exist_ok=True)
        (tiny / left).write_text("{}")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    done = subprocess.run(
        [*pip, "--no-build-isolation", "--wheel-dir", str(tmp_path), str(checkout)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("services/tiny/")}
        archive.extractall(site)
        assert "orchestrator/py.typed" in archive.namelist()
    assert names == {
        f"services/tiny/{name}" for name in ("manifest.json", "make.sh", "source/respond", "source/request")
    }

    def orch(*words: str) -> subprocess.CompletedProcess[str]:
        program = "from orchestrator.cli.main import main; main()"
        environment = {**os.environ, "PYTHONPATH": str(site)}
        command = [sys.executable, "-c", program, *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    (tmp_path / "x.yaml").write_text(f"name: x\nquestion: Which?\nstacks: [{STACK}]\noperations: add\n")
    assert "run `orch setup build tiny`" in orch("plan", "x.yaml").stdout
    assert orch("setup", "build", "tiny").returncode == 0
    assert (site / "services" / "tiny" / "build" / "built.json").is_file()
    planned = orch("plan", "x.yaml")
    assert planned.returncode == 0, planned.stderr
