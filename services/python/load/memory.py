"""How much memory a requester may take: for replies that wait to be verified, and in all where nobody knows who answers."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator
from pathlib import Path

LEAST_BYTES = 64 << 20  # a machine with 600 MB of memory must do
FOR_ONE_BYTES = 16 << 20  # of a trial in turns with one request in flight: many requesters wait at once
MOST_BYTES = 256 << 20  # more is not quicker: the pages have to be touched before each trial
LEAST_IN_ALL_BYTES, MOST_IN_ALL_BYTES = (
    1 << 30,
    4 << 30,
)  # the largest message, read and decoded, is 512 MiB several times
_SHARE = 8  # of what is free, one part: the responder, the orchestrator and others live here, too


def room_for_replies(root: Path = Path("/")) -> int:
    """An eighth of what is free here, in bytes, but at least 64 MiB and at most 256 MiB."""
    free = min(_free(root), default=0)
    return max(LEAST_BYTES, min(MOST_BYTES, free // _SHARE))


def bound_memory(root: Path = Path("/")) -> int:
    """Let this process take no more than half of what is free here, in bytes, but at least 1 GiB and at most 4 GiB.

    What needs more gets a MemoryError, or ends the process: a reply without end must not take the machine with it. 0 where
    the system has no such limit.
    """
    most = max(LEAST_IN_ALL_BYTES, min(MOST_IN_ALL_BYTES, min(_free(root), default=0) // 2))
    try:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    except (OSError, ValueError):  # macOS has no such limit on what is mapped
        return 0
    return most


def _free(root: Path) -> Iterator[int]:
    """Bytes that are free by each bound that can be read: the machine's memory, and this process's control groups."""
    available = re.search(r"^MemAvailable:\s+(\d+) kB", _text(root / "proc/meminfo"), re.MULTILINE)
    if available:
        yield int(available[1]) << 10
    groups = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, name = rest.partition(":")
        if number == "0" and not controllers:
            yield from _left(groups, name, "memory.max", "memory.current")
        elif controllers == "memory":
            yield from _left(groups / "memory", name, "memory.limit_in_bytes", "memory.usage_in_bytes")


def _left(groups: Path, name: str, limit: str, usage: str) -> Iterator[int]:
    """What this group and those above it leave; within a container its own group stands at the top."""
    own = groups / name.strip("/")
    for group in (own, *(parent for parent in own.parents if parent.is_relative_to(groups))):
        most, used = _text(group / limit).strip(), _text(group / usage).strip()
        if most.isdigit() and used.isdigit():
            yield max(0, int(most) - int(used))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # macOS, or not shown to this process
        return ""
