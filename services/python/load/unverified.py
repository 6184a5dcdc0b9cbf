"""Replies that wait to be verified until the phase is over (see `recorder`): references, beside the stamps of their rows."""

from __future__ import annotations

import re
import resource
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from services.python.operations.base import Lasting

LEAST_BYTES = 64 << 20  # a machine with 600 MB of memory must do
FOR_ONE_BYTES = 16 << 20  # of a trial in turns with one request in flight, beside which many others run
MOST_BYTES = 256 << 20  # more is not quicker: the pages have to be touched before each trial
LEAST_IN_ALL_BYTES, MOST_IN_ALL_BYTES = 1 << 30, 4 << 30  # the largest message, decoded, is 512 MiB several times
_SHARE = 8  # of what is free, one part: the responder, the orchestrator and others live here, too

_OTHER_BYTES = 300  # of the stamps, the tuple, and its place in the list
_LARGE_BYTES = 4096
_LOOKED_AT = 64  # items of a list or a mapping; the others are taken to be like them


Waiting = tuple[int, int, int, int, int, Mapping[str, Any], Any]
"""Sequence, connection number, intended, sent and received stamps; the request, and what `call` returned."""

Alike = tuple[int, int, int, int, int, tuple[int, int]]
"""Of a reply that is known to be right: sequence, connection number, the three stamps, and both bodies' sizes."""

_UNTIL_MEASURED = 2
_SMALL_OBJECT_BYTES = 512  # the largest that CPython's own allocator serves
_BYTES_HEADER = 33
_ARENA_BYTES = 1 << 20

# Of a parsed message of Protocol Buffers (upb), whose fields are no objects of the interpreter: measured, about.
_MESSAGE_BYTES, _BYTES_OF_ONE = 1200, 16  # the first block of its arena with the Python object, and what a byte becomes


class Unverified:
    """Keeps replies up to a bound on their memory: what the second one takes, times their number.

    Who adds to `waiting` asks `has_room` first when it holds `most` or more. A reply of the same bytes as one that was found
    right, to the same request, is right: of it the stamps alone are kept, in `alike`, up to `most_alike`. Replies with a
    large buffer do not wait: to compare it takes less time than to fault in fresh pages for the next one.
    """

    __slots__ = ("_is_measured", "_most_bytes", "_touched", "alike", "most", "most_alike", "waiting")

    def __init__(self, most_bytes: int) -> None:
        self.waiting: list[Waiting] = []
        self.alike: list[Alike] = []
        self.most = _UNTIL_MEASURED
        self.most_alike = most_bytes // _OTHER_BYTES
        self._is_measured = False
        self._most_bytes = most_bytes
        self._touched = touched_memory(most_bytes)

    def has_room(self) -> bool:
        """Whether one more may wait. Sets `most` when the second one shows how large they are."""
        if not self._is_measured:
            first, (*_, request, reply) = self.waiting[:_UNTIL_MEASURED]
            is_new = request is not first[-2] and not isinstance(request, Lasting)
            each_bytes = footprint(reply) + _OTHER_BYTES + (footprint(request) if is_new else 0)
            is_large = holds_large_buffer(reply) or (is_new and holds_large_buffer(request))
            self.most = 0 if is_large else self._most_bytes // each_bytes
            self._is_measured = True
        return len(self.waiting) < self.most

    @property
    def count(self) -> int:
        return len(self.waiting) + len(self.alike)

    @property
    def latest_ns(self) -> int:
        """When the latest of them came; 0 without any."""
        return max(kept[-1][4] if kept else 0 for kept in (self.waiting, self.alike))

    def take_alike(self) -> list[Alike]:
        taken, self.alike = self.alike, []
        return taken

    def take(self) -> list[Waiting]:
        """All that wait, in the order in which they came; from here on none does."""
        taken, self.waiting = self.waiting, []
        return taken


def touched_memory(size: int) -> list[bytes]:
    """Make the interpreter hold so many bytes of memory for small objects, and give what keeps them from going back.

    Replies that are kept would otherwise be decoded into pages that the kernel has to provide first, in the middle of a
    call: beside that, 200 records cost a third more to decode. CPython gives an arena of 1 MiB back when nothing
    is left in it (Objects/obmalloc.c), so a few objects of each stay.
    """
    objects = [bytes(_SMALL_OBJECT_BYTES - _BYTES_HEADER) for _ in range(size // _SMALL_OBJECT_BYTES)]
    return objects[:: _ARENA_BYTES // _SMALL_OBJECT_BYTES // 4]


def footprint(value: Any) -> int:
    """About how many bytes of memory a value takes, with all that it refers to; long collections are sampled."""
    size = sys.getsizeof(value)
    if isinstance(value, Mapping):
        return size + _of_items(list(value.values()), footprint)
    if isinstance(value, list | tuple):
        return size + _of_items(value, footprint)
    if hasattr(value, "ListFields"):
        return _MESSAGE_BYTES + _BYTES_OF_ONE * int(value.ByteSize())
    return size


def holds_large_buffer(value: Any) -> bool:
    """Whether somewhere in it stands a text or a string of bytes of more than 4 KiB; long collections are sampled."""
    if isinstance(value, str | bytes | bytearray):
        return len(value) > _LARGE_BYTES
    if hasattr(value, "ListFields"):
        return any(holds_large_buffer(field) for _, field in value.ListFields())
    if isinstance(value, Mapping):
        value = list(value.values())
    return isinstance(value, Sequence) and any(map(holds_large_buffer, value[:_LOOKED_AT]))


def _of_items(items: Sequence[Any], of_one: Callable[[Any], int]) -> int:
    some = items[:_LOOKED_AT]
    return sum(map(of_one, some)) * len(items) // len(some) if some else 0


def room_for_replies(root: Path = Path("/")) -> int:
    """An eighth of what is free here, in bytes, but at least 64 MiB and at most 256 MiB."""
    free = min(_free(root), default=0)
    return max(LEAST_BYTES, min(MOST_BYTES, free // _SHARE))


def bound_memory(root: Path = Path("/")) -> int:
    """Let this process take no more than half of what is free here, in bytes, but at least 1 GiB and at most 4 GiB.

    What needs more gets a MemoryError, or ends the process: a reply without end must not take the machine with it.
    """
    most = max(LEAST_IN_ALL_BYTES, min(MOST_IN_ALL_BYTES, min(_free(root), default=0) // 2))
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
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
    except OSError:  # not shown to this process
        return ""
