"""Processes named by pid *and* start time: pids are used again, and ending a stranger is the worst a lab could do."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Handle:
    """A process: its pid, when it started (clock ticks since boot), and which boot that was."""

    pid: int
    start_ticks: int
    boot_id: str

    def to_dict(self) -> dict[str, Any]:
        """For a record."""
        return asdict(self)


def boot_id() -> str:
    """Changes with every boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _start_ticks(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat; None when the process is gone, or a zombie that nobody collected yet."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()  # the command's name may hold spaces and parentheses
    return None if fields[0] in "ZX" else int(fields[19])


def handle(pid: int) -> Handle:
    """The handle of a running process. ProcessLookupError when there is none."""
    start_ticks = _start_ticks(pid)
    if start_ticks is None:
        raise ProcessLookupError(f"process {pid} is gone")
    return Handle(pid=pid, start_ticks=start_ticks, boot_id=boot_id())


def from_record(record: dict[str, Any] | None) -> Handle | None:
    """What `Handle.to_dict` gave; None when nothing was recorded."""
    return Handle(**record) if record else None


def is_alive(process: Handle | None) -> bool:
    """Whether that very process still runs."""
    return process is not None and process.boot_id == boot_id() and _start_ticks(process.pid) == process.start_ticks


def end(process: Handle | None, *, grace_s: float = 0.0) -> None:
    """End a process and wait until it is gone: SIGTERM and `grace_s` to obey, then SIGKILL. Idempotent."""
    if process is None or not is_alive(process):
        return
    try:
        pidfd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        # The pid may have been used again between the check and the open; the descriptor pins the process that has it now.
        if is_alive(process):
            signals = [signal.SIGTERM, signal.SIGKILL] if grace_s else [signal.SIGKILL]
            for signum, wait_s in zip(signals, [grace_s, 10.0] if grace_s else [10.0], strict=True):
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, signum)
                if select.select([pidfd], [], [], wait_s)[0]:
                    return
    finally:
        os.close(pidfd)


def end_all(pids: Iterable[int]) -> None:
    """SIGKILL to processes that were just found inside something of ours, and wait for each."""
    for pid in pids:
        with suppress(ProcessLookupError):
            end(handle(pid))


def let_go_of_output() -> None:
    """The keeper's parent reads to the end of its output; the log stays for what goes wrong later."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
