"""One run at a time measures on a machine."""

from __future__ import annotations

import fcntl
import json
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
with machine(sys.argv[1], share=len(sys.argv) > 2) as part:
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
        assert process.stdout is not None
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


def test_the_lock_goes_with_its_process():
    with another("local"):
        pass
    with machine("lab") as part:
        assert part.others() == []


def test_both_know_that_the_machine_was_shared():
    with machine("local") as part, another("lab", "share") as other:
        assert [f"process {other.pid}" in words for words in part.others()] == [True]
    with another("local") as other, machine("local", share=True) as part:
        assert [f"process {other.pid}" in words for words in part.others()] == [True]


@pytest.mark.parametrize("content", [b"my notes\n", b"\0", b"{}\n", b'{"pid": 1}\n'])
def test_a_file_that_holds_something_else_is_refused_and_left_as_it_is(lock, content):
    lock.write_bytes(content)
    for share in (False, True):
        with pytest.raises(MissingError, match="holds something else"), machine("local", share=share):
            pytest.fail("it was taken")
    assert lock.read_bytes() == content
    with lock.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(MissingError, match="holds something else"), machine("local", share=True):
            pytest.fail("it was taken")
    assert lock.read_bytes() == content


def test_the_file_of_a_run_that_was_killed_is_taken(lock):
    with another("local") as other:
        other.kill()
    assert lock.read_bytes().startswith(b'{"pid"')
    with machine("local") as part:
        assert part.others() == []


def entry(pid: int, run: str, **more: str) -> str:
    return json.dumps({"pid": pid, "run": run, "user": "u", "folder": "/f", **more}) + "\n"


def test_a_process_id_that_was_given_again_is_neither_us_nor_who_measures(lock):
    with another("local") as other:
        holder = lock.read_text()
        space = json.loads(holder.splitlines()[0])["space"]
        reused = entry(other.pid, "long-gone", started="1@00000000", space=space)
        ours = entry(os.getpid(), "another-with-our-id", started="1@00000000", space="another container")
        with lock.open("a") as file:
            file.write(reused + ours)
        with pytest.raises(MissingError) as caught, machine("local"):
            pytest.fail("both measure")
        assert "run 20260101-000000-other-abcd" in caught.value.message
        assert "long-gone" not in caught.value.message
        with machine("local", share=True) as part:
            said = " ".join(part.others())
    assert "long-gone" not in said, "it had ended before we began"
    assert "another-with-our-id" in said, "its id counts elsewhere"
    assert "20260101-000000-other-abcd" in said
