"""The journal: one JSON line per event, on disk before the run continues. While a run lives, it is the truth.

Every line ends with its `chain`: the SHA-256 of the line before it (its chain) and of this line's own bytes. A line that
was changed, left out, added or moved breaks the chain from there on. That protects against accidents and careless
editing, not against someone who computes the chain anew (docs/explanation/why-believe-it.md).
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from orchestrator.errors import InvalidMeasurement
from orchestrator.results.documents import Damaged, disk_full_is_an_error, to_line
from orchestrator.strict_json import parse_own_json

_CHAIN = b',"chain":"'
_END = b'"}\n'
_CHAIN_BYTES = 64
_MOST_AT_ONCE = 1 << 24
_KIND = re.compile(rb'\{"event":"([a-z-]+)"')


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line: its content, and the chain's value after it."""

    content: dict[str, Any]
    chain: str


class Journal:
    """Appends events, and reads them back; a line that a kill cut short is ignored, and removed before the next append."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._head: str | None = None  # None: not read yet

    def append(self, event: dict[str, Any], *, sync: bool = True) -> None:
        """Write one event; with `sync` it is on the disk when this returns. MissingError when the disk is full."""
        with disk_full_is_an_error(self.path):
            if self._head is None:
                self._head = self._drop_torn_line()
            line, head = chained(event, self._head)
            with self.path.open("ab", buffering=0) as handle:
                descriptor = handle.fileno()
                size = os.fstat(descriptor).st_size
                try:
                    if handle.write(line) != len(line):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
                    if sync:
                        os.fsync(descriptor)
                except OSError:
                    os.ftruncate(descriptor, size)
                    raise
        self._head = head

    def events(self) -> Iterator[dict[str, Any]]:
        """Every whole event, oldest first; InvalidMeasurement names the first line that is not as it was written."""
        return (event.content for event in self.chain())

    def chain(self) -> Iterator[Event]:
        """Every whole event with the chain's value after it, oldest first; errors as `events`."""
        for number, (body, chain, _) in enumerate(self._lines(), start=1):
            event = _event(body, chain)
            if event is None:
                raise self._altered(number, "not as it was written")
            yield event

    def told(self, kinds: Container[str]) -> Iterator[dict[str, Any]]:
        """The whole events of these kinds, oldest first; errors as `events`.

        Every line is held against the chain, and what is not asked for is not parsed.
        """
        for number, (body, _, _) in enumerate(self._lines(), start=1):
            named = _KIND.match(body)
            if named is not None and named[1].decode() not in kinds:
                continue
            try:
                content = parse_own_json(body + b"}")
            except ValueError:
                raise self._altered(number, "not as it was written") from None
            if content["event"] in kinds:
                yield content

    def end(self) -> str:
        """The chain's value after the last whole line ("" where there is none), by the chain alone; errors as `events`."""
        return self._end()[0]

    def has(self, chain: str) -> bool:
        """Whether the chain had this value after some line; errors as `events`."""
        return any(value == chain for _, value, _ in self._lines())

    @property
    def is_whole(self) -> bool:
        """Whether nothing follows the last whole line; errors as `events`."""
        return not self.path.exists() or self._end()[1] == self.path.stat().st_size

    def _lines(self) -> Iterator[tuple[bytes, str, int]]:
        """Each whole line's body, the chain's value after it, and the offset at which it ends."""
        try:
            opened = self.path.open("rb")
        except FileNotFoundError:
            return
        except OSError as error:
            raise Damaged(self.path, f"cannot be read: {error.strerror}") from error
        with opened as handle:
            head, offset = "", 0
            for number, line in enumerate(iter(handle.readline, b""), start=1):
                body, chain = _unchained(line, head)
                if body is None:
                    if _is_torn(line) and not handle.read(1):
                        return  # the last line, cut by a kill or a power cut
                    raise self._altered(number, "not as it was written")
                offset += len(line)
                head = chain
                yield body, chain, offset

    def _end(self) -> tuple[str, int]:
        """The chain's value after the last whole line, and where that ends."""
        head, offset = "", 0
        for _, head, offset in self._lines():  # noqa: B007 - the last ones are wanted
            pass
        return head, offset

    def _drop_torn_line(self) -> str:
        """Cut what follows the last whole line; the chain's value there."""
        head, end = self._end()
        if self.path.exists() and end != self.path.stat().st_size:
            os.truncate(self.path, end)
        return head

    def _altered(self, line: int, trouble: str) -> InvalidMeasurement:
        return InvalidMeasurement(
            f"{self.path}: line {line} is {trouble}",
            hint="bring it back from a copy; the Parquet files under samples/ can still be read with pandas.read_parquet",
        )


class Tail:
    """Follows a journal that another process writes: each look reads what was added since the one before, and no more."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0  # behind the last whole line that was read, in bytes
        self._head = ""
        self._lines = 0

    def look(self, most_bytes: int = _MOST_AT_ONCE) -> list[dict[str, Any]]:
        """The whole events that were added, oldest first, of about so many bytes at most; none when nothing was.

        FileNotFoundError when the journal is gone; InvalidMeasurement for a line that is not as it was written, and for a
        journal that became shorter than what was read.
        """
        found: list[dict[str, Any]] = []
        with self.path.open("rb") as handle:
            size = os.fstat(handle.fileno()).st_size
            if size < self.offset:
                raise Damaged(self.path, "shorter than it was")
            handle.seek(self.offset)
            last = min(size, self.offset + most_bytes)
            while self.offset < last and not _is_torn(line := handle.readline()):
                found.append(self._taken(line))
        return found

    def _taken(self, line: bytes) -> dict[str, Any]:
        body, chain = _unchained(line, self._head)
        event = None if body is None else _event(body, chain)
        if event is None:
            raise Damaged(self.path, f"line {self._lines + 1} is not as it was written")
        self.offset, self._head, self._lines = self.offset + len(line), chain, self._lines + 1
        return event.content


def chained(event: dict[str, Any], before: str) -> tuple[bytes, str]:
    """The line of an event after the line whose chain is `before` ("" for the first), and its own chain."""
    body = to_line(event)[:-1]
    chain = _digest(before, body)
    return body + _CHAIN + chain.encode() + _END, chain


def _unchained(line: bytes, before: str) -> tuple[bytes | None, str]:
    """The body of a whole line whose chain follows `before`, and that chain; None for any other line."""
    body, mark, rest = line.rpartition(_CHAIN)
    if not mark or len(rest) != _CHAIN_BYTES + len(_END) or not rest.endswith(_END):
        return None, ""
    chain = _digest(before, body)
    return (body, chain) if rest[:_CHAIN_BYTES] == chain.encode() else (None, "")


def _event(body: bytes, chain: str) -> Event | None:
    """The event of a line; None for what orch does not write."""
    try:
        content = parse_own_json(body + b"}")
    except ValueError:
        return None
    is_event = isinstance(content, dict) and isinstance(content.get("event"), str)
    return Event(content=content, chain=chain) if is_event else None


def _digest(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + b"\n" + body).hexdigest()


def _is_torn(line: bytes) -> bool:
    """Whether an interrupted write can have left this: no newline at its end, or a hole of zero bytes."""
    return not line.endswith(b"\n") or not line.strip(b"\0\n")


def try_hold(journal: Path) -> BinaryIO | None:
    """The lock, held until this is closed; None while another process has it. InvalidMeasurement where there is no file."""
    try:
        handle = journal.open("r+b")
    except FileNotFoundError as error:
        raise Damaged(journal, "the file is missing") from error
    except IsADirectoryError as error:
        raise Damaged(journal, "not a file but a folder") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        return None
    return handle


def is_held(journal: Path) -> bool:
    """Whether a process of this machine holds the lock right now."""
    try:
        with journal.open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False
