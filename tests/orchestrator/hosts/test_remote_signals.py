"""What is sent to a host's shell: who a process is, and a signal for it and nobody else."""

from __future__ import annotations

import errno
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from orchestrator.hosts.base import HostLost
from orchestrator.hosts.remote.host import _PID, _SAY_PID, _SIGNAL, _losing

SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
pytestmark = [
    pytest.mark.busy,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc"),
]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.EHOSTUNREACH, "no route"), HostLost),
        (ConnectionResetError(), HostLost),
        (OSError(errno.ENOSPC, "disk full"), OSError),
    ],
)
def test_a_host_without_a_route_to_it_is_lost_and_a_full_disk_is_not(error: OSError, expected: type[Exception]) -> None:
    with pytest.raises(expected), _losing("a"):
        raise error


def started(shell: str) -> tuple[subprocess.Popen[str], str, str]:
    """A process as the SSH server starts it, with its id and its start as it says them."""
    child = subprocess.Popen(
        [shell, "-c", f"{_SAY_PID}; exec sleep 60"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    found = _PID.fullmatch(child.stderr.readline())
    return child, found[1], found[2]


def send(shell: str, pid: str, start: str, name: str, to: str) -> int:
    return subprocess.run([shell, "-c", _SIGNAL, "sh", pid, start, name, to], check=False).returncode


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", ["TERM", "KILL"])
def test_the_process_that_said_who_it_is_gets_the_signal_and_another_of_its_id_does_not(shell, name):
    child, pid, start = started(shell)
    try:
        assert int(pid) == child.pid
        assert start == Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        to = f"-{pid}" if name == "KILL" else pid
        assert send(shell, pid, str(int(start) + 1), name, to) == 0
        assert child.poll() is None, "its id is that of a process with another start"
        assert send(shell, pid, start, name, to) == 0
        assert child.wait(60) == -signal.Signals[f"SIG{name}"]
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_left_of_a_group_whose_leader_is_gone_is_ended(shell):
    leader = subprocess.Popen(
        [shell, "-c", "sleep 60 & echo $!"], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    left = int(leader.stdout.readline())
    leader.wait(60)
    assert Path(f"/proc/{left}").exists()
    assert send(shell, str(leader.pid), "1", "KILL", f"-{leader.pid}") == 0
    leader.stdout.read()  # ends when nobody holds it any more
    leader.stdout.close()
