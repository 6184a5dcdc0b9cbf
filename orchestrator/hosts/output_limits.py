"""How much a process of the contract may print: a line has a greatest length, and stderr a greatest size. Pure."""

from __future__ import annotations

from orchestrator.hosts.base import ContractBroken

LONGEST_LINE = 1 << 20
MOST_STDERR = 64 << 20


class LineBuffer:
    """Bytes as they come, given out as lines; linear in what is printed, however it is cut."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._searched = 0

    def take(self, chunk: bytes) -> None:
        """More output."""
        self._bytes += chunk

    def line(self) -> str | None:
        """The next line without its end; None when there is no whole one yet, ContractBroken when it is too long."""
        end = self._bytes.find(b"\n", self._searched)
        if (len(self._bytes) if end < 0 else end) > LONGEST_LINE:
            self._bytes.clear()
            raise ContractBroken(f"it printed a line longer than {LONGEST_LINE >> 20} MiB on stdout")
        if end < 0:
            self._searched = len(self._bytes)
            return None
        line = self._bytes[:end].decode(errors="replace")
        del self._bytes[: end + 1]
        self._searched = 0
        return line

    def rest(self) -> str | None:
        """What came after the last line's end; None when nothing did."""
        text = self._bytes.decode(errors="replace")
        self._bytes.clear()
        return text or None


class StderrLimit:
    """Counts what goes to stderr."""

    def __init__(self) -> None:
        self._in_line = 0
        self._total = 0

    def take(self, chunk: bytes) -> None:
        """ContractBroken when the line that this chunk goes on, or all of stderr, is too long."""
        end = chunk.rfind(b"\n")
        self._in_line = self._in_line + len(chunk) if end < 0 else len(chunk) - end - 1
        self._total += len(chunk)
        if self._in_line > LONGEST_LINE:
            raise ContractBroken(f"it printed a line longer than {LONGEST_LINE >> 20} MiB on stderr")
        if self._total > MOST_STDERR:
            raise ContractBroken(f"it printed more than {MOST_STDERR >> 20} MiB on stderr")
