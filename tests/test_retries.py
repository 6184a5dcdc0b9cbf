"""What failed is tried once more and named, if it is at most ten tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.session import MOST

ROOT = Path(__file__).parent.parent
CONFTEST = (
    "from tests.support.session import pytest_addoption, pytest_collection_modifyitems, pytest_terminal_summary\n"
)
TESTS = """
import pathlib, pytest

@pytest.mark.parametrize("number", range({failing}))
def test_late(number):
    counter = pathlib.Path(__file__).with_name("calls")
    calls = counter.read_text().split() if counter.exists() else []
    counter.write_text(" ".join([*calls, str(number)]))
    assert str(number) in calls

def test_sound(): pass
"""


def tried(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def failed(folder: Path, failing: int) -> Path:
    """A folder whose tests have been run once: so many failed, which pass when they are called again."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(TESTS.format(failing=failing))
    assert tried(folder).returncode == 1
    return folder


@pytest.mark.slow
def test_what_failed_is_tried_once_more_and_named(tmp_path: Path) -> None:
    again = tried(failed(tmp_path, MOST), "--retry")
    assert again.returncode == 0, again.stdout + again.stderr
    assert f"{MOST} passed, 1 deselected" in again.stdout
    assert "tried once more" in again.stdout
    assert "test_it.py::test_late[9]" in again.stdout


@pytest.mark.slow
def test_more_than_ten_that_failed_are_a_defect_and_none_is_tried_again(tmp_path: Path) -> None:
    again = tried(failed(tmp_path, MOST + 1), "--retry")
    assert again.returncode not in (0, 5)
    assert f"{MOST + 1} tests failed" in again.stderr
    assert len((tmp_path / "calls").read_text().split()) == MOST + 1
