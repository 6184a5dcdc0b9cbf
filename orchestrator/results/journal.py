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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from orchestrator.disk import RESUME, writing
from orchestrator.errors import KEPT
from orchestrator.results.documents import Damaged, to_line
from orchestrator.strict_json import parse_json

_CHAIN = b',"chain":"'
_END = b'"}\n'
_CHAIN_BYTES = 64


@dataclass(frozen=True, kw_only=True)
class Line:
    """A whole line: its number from 1, its body, the chain's value after it, and the offset at which it ends."""

    number: int = 0
    body: bytes = b""
    chain: str = ""
    offset: int = 0

    @property
    def content(self) -> dict[str, Any]:
        """The event."""
        content: dict[str, Any] = parse_json(self.body + b"}")
        return content


class Journal:
    """Appends events, and reads them back; a line that a kill cut short is ignored, and removed before the next append.

    Every reader raises InvalidMeasurement that names the first line that is not as it was written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._head: str | None = None  # None: not read yet

    def append(self, event: dict[str, Any], *, sync: bool = True) -> None:
        """Write one event; with `sync` it is on the disk when this returns. MissingError when the disk is full."""
        with writing(self.path, RESUME, kept=KEPT):
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
        """Every whole event, oldest first."""
        return (line.content for line in self.lines())

    def end(self) -> str:
        """The chain's value after the last whole line ("" where there is none)."""
        return self._last().chain

    def has(self, chain: str) -> bool:
        """Whether the chain had this value after some line."""
        return any(line.chain == chain for line in self.lines())

    @property
    def is_whole(self) -> bool:
        """Whether nothing follows the last whole line."""
        return not self.path.exists() or self._last().offset == self.path.stat().st_size

    def lines(self, after: Line | None = None) -> Iterator[Line]:
        """Each whole line, those behind `after` alone where it is given; none where there is no file."""
        line = after or Line()
        try:
            opened = self.path.open("rb")
        except FileNotFoundError:
            return
        except OSError as error:
            raise Damaged(self.path, f"cannot be read: {error.strerror}") from error
        with opened as handle:
            handle.seek(line.offset)
            for text in iter(handle.readline, b""):
                body, chain = _unchained(text, line.chain)
                if body is None:
                    if _is_torn(text) and not handle.read(1):
                        return  # the last line, cut by a kill or a power cut
                    raise Damaged(self.path, f"line {line.number + 1} is not as it was written")
                end = line.offset + len(text)
                line = Line(number=line.number + 1, body=body, chain=chain, offset=end)
                yield line

    def _last(self) -> Line:
        line = Line()
        for line in self.lines():  # noqa: B007 - the last one is wanted
            pass
        return line

    def _drop_torn_line(self) -> str:
        """Cut what follows the last whole line; the chain's value there."""
        last = self._last()
        if self.path.exists() and last.offset != self.path.stat().st_size:
            os.truncate(self.path, last.offset)
        return last.chain


class Tail:
    """Follows a journal that another process writes: each look reads what was added since the one before, and no more."""

    def __init__(self, path: Path) -> None:
        self._journal = Journal(path)
        self._last = Line()

    def look(self) -> list[dict[str, Any]]:
        """The whole events that were added, oldest first; none when nothing was.

        FileNotFoundError when the journal is gone; InvalidMeasurement for a line that is not as it was written, and for a
        journal that became shorter than what was read.
        """
        events: list[dict[str, Any]] = []
        if self._journal.path.stat().st_size < self._last.offset:
            raise Damaged(self._journal.path, "shorter than it was")
        for line in self._journal.lines(self._last):
            events.append(line.content)
            self._last = line
        return events


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
