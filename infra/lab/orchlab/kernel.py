"""The system calls that Python 3.11 has no name for."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

CLONE_NEWNS = 0x0002_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 0x2, 0x4, 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_SLAVE = 0x8_0000

_PR_SET_PDEATHSIG = 1
_PR_SET_TIMERSLACK = 29

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def setns(path: str | Path, kind: int) -> None:
    """Enter the namespace that a file under /proc/PID/ns or /run/netns stands for. OSError as the kernel says."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.setns(descriptor, kind), f"enter {path}")
    finally:
        os.close(descriptor)


def unshare(kinds: int) -> None:
    """Leave the namespaces of the given kinds for new ones. OSError as the kernel says."""
    _check(_libc.unshare(kinds), "make namespaces")


def mount(source: str | Path, target: str | Path, kind: str = "none", flags: int = 0, options: str = "") -> None:
    """Mount a file system, as the kernel's `mount` does. OSError names the target."""
    arguments = [str(text).encode() for text in (source, target, kind)]
    _check(_libc.mount(*arguments, ctypes.c_ulong(flags), options.encode() or None), f"mount {target}")


def end_with_parent(signum: int) -> None:
    """Let the kernel send this process a signal when its parent ends."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signum, 0, 0, 0), "prctl")


def sharpen_timers() -> None:
    """Timers of this process fire when due, not up to 50 microseconds later."""
    _check(_libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0), "prctl")
