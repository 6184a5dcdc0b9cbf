"""One run at a time measures on a machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.errors import MissingError
from orchestrator.hosts.local.machine_lock import VARIABLE, machine

OTHER = """
import sys
from orchestrator.hosts.local.machine_lock import machine
with machine(sys.argv[1]) as part:
    part.note("20260101-000000-other-abcd")
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "lock"
    monkeypatch.setenv(VARIABLE, str(path))
    return path


@contextmanager
def another(*words: str, folder: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """Another orch, of another folder, that measures here."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, *words],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("provider", ["local", "lab"])
def test_a_run_of_another_checkout_is_named_and_refused(tmp_path, provider):
    with another(provider, folder=tmp_path) as other:
        with pytest.raises(MissingError, match="run 20260101-000000-other-abcd") as caught, machine("local"):
            pytest.fail("both measure")
        assert f"process {other.pid}, user" in caught.value.message
        assert f"in {tmp_path}" in caught.value.message
        assert "--share-machine" in (caught.value.hint or "")


def test_a_run_that_shares_the_machine_knows_with_whom():
    with another("local") as other, machine("local", share=True) as part:
        assert f"process {other.pid}" in part.other


def test_the_lock_goes_with_its_process_and_the_file_of_a_run_that_was_killed_is_taken(lock):
    with another("local") as other:
        other.kill()
    assert lock.read_bytes().startswith(b'{"pid"')
    with machine("lab") as part:
        assert part.other == ""
