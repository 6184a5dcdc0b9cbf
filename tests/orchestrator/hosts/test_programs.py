"""Long programs run under their deployment's lock: whoever comes after a killed orch finds what it left running."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from orchestrator.errors import ProvisionError
from orchestrator.hosts.programs import LOCK, end_orphan, run_logged

CHILD = """
import pathlib, signal, sys
seen = pathlib.Path(sys.argv[1])
def stop(*_):
    seen.write_text("interrupted")
    sys.exit(1)
signal.signal(signal.SIGINT, stop)
seen.write_text("up")
print("to stdout", flush=True)
print("to stderr", file=sys.stderr, flush=True)
if sys.argv[2] == "wait":
    signal.pause()
"""


def command(folder: Path, what: str) -> list[str]:
    return [sys.executable, "-c", CHILD, str(folder / "seen"), what]


@pytest.fixture
def orphan(tmp_path: Path) -> Path:
    """The lock of a deployment whose orch was killed while a program ran."""
    lock = tmp_path / LOCK
    program = f"""
        import sys
        from pathlib import Path
        sys.path.insert(0, {str(Path.cwd())!r})
        from orchestrator.hosts.programs import run_logged
        run_logged({command(tmp_path, "wait")!r}, Path({str(tmp_path / "log")!r}), {{}}, lock=Path({str(lock)!r}))
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)])
    seen = tmp_path / "seen"
    while not (seen.exists() and seen.read_text() and lock.read_text().strip()):
        assert parent.poll() is None
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    return lock


def test_both_streams_are_kept_apart_and_in_the_log(tmp_path: Path) -> None:
    ended = run_logged(command(tmp_path, "end"), tmp_path / "logs" / "x.log", {}, lock=tmp_path / LOCK)
    assert (ended.status, ended.out, ended.err) == (0, "to stdout\n", "to stderr\n")
    assert (tmp_path / "logs" / "x.log").read_text() == "to stdout\n"
    assert (tmp_path / "logs" / "x.stderr.log").read_text() == "to stderr\n"


def test_an_orphan_is_interrupted_once_and_waited_for(orphan: Path) -> None:
    assert end_orphan(orphan, patience_s=60.0)
    assert (orphan.parent / "seen").read_text() == "interrupted"
    assert not end_orphan(orphan)


def test_without_an_orphan_nobody_is_interrupted(tmp_path: Path) -> None:
    assert not end_orphan(tmp_path / LOCK)
    (tmp_path / LOCK).write_text(f"{os.getpid()}\n")  # its program has ended, and the id was given to another one
    assert not end_orphan(tmp_path / LOCK)


def test_the_next_program_waits_for_an_orphan(orphan: Path) -> None:
    pid = int(orphan.read_text().split()[0])
    ender = threading.Timer(0.5, os.kill, (pid, signal.SIGINT))
    ender.start()
    ended = run_logged(command(orphan.parent, "end"), orphan.parent / "next.log", {}, lock=orphan)
    assert ended.status == 0
    assert ender.finished.is_set()


def test_an_orphan_that_will_not_end_is_an_error_that_names_it(tmp_path: Path) -> None:
    lock = tmp_path / LOCK
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ProvisionError, match="still at work") as caught:
            end_orphan(lock, patience_s=0.2)
    assert str(lock) in (caught.value.hint or "")
