"""Processes known by id and start time: found by the mark of their run, ended in steps, and never somebody else's.

Every process that a run starts on this machine carries the run's id in its environment, and what it starts inherits that:
so a child in a session of its own is found too, also by a teardown after orch was killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RUN_MARK = "ORCH_RUN"
PROCESS_MARK = "ORCH_PROCESS"
_PROC = Path("/proc")
_LOOK_S = 0.05

Steps = Sequence[tuple[signal.Signals, float]]
ENDING: Steps = ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))
KILLING: Steps = ((signal.SIGKILL, 5.0),)


@dataclass(frozen=True, kw_only=True)
class Known:
    """A process that cannot be mistaken for another one: a reused id has another start time."""

    pid: int
    started: str

    @property
    def is_alive(self) -> bool:
        return started_at(self.pid) == self.started

    def signal(self, number: signal.Signals, *, group: bool = True) -> None:
        """Send a signal to it, and (if `group`) to its group where it leads one; nothing when it has ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if not self.is_alive:
                return
            leads = group and os.getpgid(self.pid) == self.pid != os.getpgid(0)
            (os.killpg if leads else os.kill)(self.pid, number)

    def __str__(self) -> str:
        return f"process {self.pid}"


def has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether a child has ended. Its status is not collected, so its id, and its group's, stay its own."""
    if child.returncode is not None:
        return True
    try:
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def await_end(child: subprocess.Popen[bytes], patience_s: float) -> bool:
    """Wait until a child has ended, as `has_ended` sees it, but not longer than that; whether it has."""
    deadline = time.monotonic() + patience_s
    while not has_ended(child) and time.monotonic() < deadline:
        time.sleep(_LOOK_S / 5)
    return has_ended(child)


def signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to the group that a child leads; nothing once its status is collected: the id may be another's."""
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)


def try_lock(descriptor: int) -> bool:
    """Whether the lock on this open file is ours now: nobody else held it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def started_at(pid: int) -> str | None:
    """When the process of that id started, in clock ticks since a boot, which is named; None if it is gone."""
    fields = _stat(pid)
    return None if not fields or fields[0] in "ZX" else f"{fields[19]}@{_boot()}"


def known(pid: int) -> Known | None:
    """The process of that id as it is now; None if there is none."""
    started = started_at(pid)
    return None if started is None else Known(pid=pid, started=started)


def marked(name: str, value: str) -> list[Known]:
    """Our user's processes whose environment says `name=value`, this one and those it was started by left out."""
    wanted, spared, matches = f"{name}={value}".encode(), {*_ancestors()}, []
    for pid in [int(entry) for entry in os.listdir(_PROC) if entry.isdecimal()]:  # noqa: PTH208 - names
        try:
            is_it = wanted in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
            if not is_it or pid in spared or (_PROC / str(pid)).stat().st_uid != os.geteuid():
                continue
        except OSError:
            continue  # another user's, or it has ended meanwhile
        if (process := known(pid)) is not None:
            matches.append(process)
    return matches


def end(find: Callable[[], Iterable[Known]], steps: Steps = ENDING, *, group: bool = True) -> list[Known]:
    """End all that `find` finds, as often as it finds some: a signal a step, and SIGCONT for those that were stopped.

    `steps` says which signal, and how long to wait after it, seconds; `group` whether groups are signalled where one of
    them leads. What is still alive after the last step is given back.
    """
    left = list(find())
    for number, patience_s in steps:
        signalled: set[Known] = set()
        began_s = time.monotonic()
        while left:
            for process in set(left) - signalled:
                process.signal(number, group=group)
                process.signal(signal.SIGCONT, group=group)
                signalled.add(process)
            if time.monotonic() - began_s >= patience_s:
                break
            time.sleep(_LOOK_S)  # they are not ours to wait on: their parent was killed
            left = list(find())
    return left


def cpu_s(pid: int) -> float:
    """CPU seconds that a process has used, all its threads; 0 where it is gone."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _stat(pid: int) -> list[str]:
    """What proc_pid_stat(5) has from the third field, the state, on; empty where the process is gone."""
    try:
        return (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _ancestors() -> list[int]:
    ancestors = [os.getpid()]
    while fields := _stat(ancestors[-1]):
        ancestors.append(int(fields[1]))
    return ancestors


@cache
def _boot() -> str:
    return (_PROC / "sys" / "kernel" / "random" / "boot_id").read_text()[:8]
