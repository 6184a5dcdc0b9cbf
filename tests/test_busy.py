"""Only what says that it may wait for a busy machine is tried again, and it is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONFTEST = "from tests.support.busy import pytest_addoption, pytest_collection_modifyitems, pytest_terminal_summary\n"
TESTS = """
import pathlib, pytest

def call(name, passes_at):
    counter = pathlib.Path(__file__).with_name(name)
    calls = len(counter.read_text()) if counter.exists() else 0
    counter.write_text("x" * (calls + 1))
    assert calls + 1 >= passes_at

@pytest.mark.busy
def test_slow(): call("slow", {slow})

def test_sound(): call("sound", 1)

def test_wrong(): call("wrong", {wrong})
"""


def tried(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:xdist", *options, "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def written(folder: Path, *, slow: int, wrong: int) -> Path:
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = busy: may wait\n")
    (folder / "test_it.py").write_text(TESTS.format(slow=slow, wrong=wrong))
    return folder


def calls(folder: Path) -> dict[str, int]:
    return {name: len((folder / name).read_text()) for name in ("slow", "sound", "wrong")}


@pytest.mark.slow
def test_what_is_marked_is_tried_once_more_and_named(tmp_path: Path) -> None:
    folder = written(tmp_path, slow=2, wrong=1)
    assert tried(folder).returncode == 1
    again = tried(folder, "--retry-busy")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "tried once more" in again.stdout
    assert "test_it.py::test_slow" in again.stdout
    assert calls(folder) == {"slow": 2, "sound": 1, "wrong": 1}


@pytest.mark.slow
def test_what_is_not_marked_has_failed_at_once_and_nothing_is_tried_again(tmp_path: Path) -> None:
    folder = written(tmp_path, slow=2, wrong=2)
    assert tried(folder).returncode == 1
    again = tried(folder, "--retry-busy")
    assert again.returncode not in (0, 5)
    assert "not marked as waiting for a busy machine: test_it.py::test_wrong" in again.stderr
    assert calls(folder) == {"slow": 1, "sound": 1, "wrong": 1}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["tests/lab", "tests/infra/lab", "tests/infra/qemu"])
def test_whatever_builds_hosts_says_that_it_may_wait(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "(lab or alone or qemu) and not busy", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 5, done.stdout
