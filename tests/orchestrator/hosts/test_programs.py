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
from orchestrator.hosts.processes import started_at
from orchestrator.hosts.provision import programs
from orchestrator.hosts.provision.programs import LOCK, end_orphan, run_logged

pytestmark = pytest.mark.busy

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


def start_orphan(folder: Path, command: list[str]) -> Path:
    """The lock of a deployment whose orch was killed while `command` ran, once that has written its file."""
    lock, seen = folder / LOCK, folder / "seen"
    program = f"""
        import sys
        from pathlib import Path
        sys.path.insert(0, {str(Path.cwd())!r})
        from orchestrator.hosts.provision.programs import run_logged
        run_logged({command!r}, Path({str(folder / "log")!r}), {{}}, lock=Path({str(lock)!r}))
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)])
    while not (seen.exists() and seen.read_text() and lock.read_text().strip()):
        assert parent.poll() is None
    parent.kill()
    parent.wait()
    return lock


@pytest.fixture
def orphan(tmp_path: Path) -> Path:
    """The lock of a deployment whose orch was killed while a program ran."""
    return start_orphan(tmp_path, command(tmp_path, "wait"))


def test_an_orphan_that_will_not_end_is_an_error_that_names_it(tmp_path: Path) -> None:
    lock = tmp_path / LOCK
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ProvisionError, match="still at work") as caught:
            end_orphan(lock, patience_s=0.2, kill_s=0.2)
    assert str(lock) in (caught.value.hint or "")


STUBBORN = """
import pathlib, signal, subprocess, sys
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
other = subprocess.Popen(["sleep", "600"], start_new_session=True)
pathlib.Path(sys.argv[1]).write_text(str(other.pid))
signal.pause()
"""


def test_a_stopped_orphan_is_woken_and_ends_in_order(orphan: Path) -> None:
    os.kill(int(orphan.read_text().split()[0]), signal.SIGSTOP)
    assert end_orphan(orphan, patience_s=60.0)
    assert (orphan.parent / "seen").read_text() == "interrupted"


@pytest.mark.slow
def test_an_orphan_that_hears_nothing_is_killed_with_what_it_started_in_another_session(tmp_path: Path) -> None:
    lock = start_orphan(tmp_path, [sys.executable, "-c", STUBBORN, str(tmp_path / "seen")])
    other = int((tmp_path / "seen").read_text())
    start = started_at(other)
    assert start is not None
    assert end_orphan(lock, patience_s=0.4, kill_s=2.0)
    assert started_at(other) != start
    assert not end_orphan(lock)


@pytest.mark.slow
def test_an_interrupt_ends_a_program_that_ignores_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "PATIENCE_S", 0.2)
    monkeypatch.setattr(programs, "KILL_S", 2.0)
    stubborn = [sys.executable, "-c", STUBBORN, str(tmp_path / "seen")]

    def interrupt() -> None:
        while not ((tmp_path / "seen").exists() and (tmp_path / "seen").read_text()):
            pass
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        run_logged(stubborn, tmp_path / "log", {}, lock=tmp_path / LOCK)
    other = int((tmp_path / "seen").read_text())
    assert started_at(other) is None
