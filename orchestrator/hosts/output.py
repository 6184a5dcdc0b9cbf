"""What processes print, up to a bound: short commands to their end, and the lines and stderr of longer ones."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.hosts import processes
from orchestrator.hosts.base import Completed, ContractBroken

MOST_BYTES = 16 << 20
_CHUNK = 65_536


def capture(
    command: Sequence[str], *, timeout_s: float, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Completed:
    """Run it with an empty stdin, in a session of its own.

    TimeoutError when it, or what it started and left its output to, runs for longer than `timeout_s`; ContractBroken
    when it says more than 16 MiB on one of its streams. In both cases, and when an exception comes in between, its group
    is killed.
    """
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        cwd=cwd,
        start_new_session=True,
    )
    try:
        out, err = _read_both(child, command[0], time.monotonic() + timeout_s, timeout_s)
    finally:
        processes.signal_group(child, signal.SIGKILL)
        child.wait()
        for pipe in (child.stdout, child.stderr):
            if pipe is not None:
                pipe.close()
    return Completed(
        returncode=child.returncode, stdout=out.decode(errors="replace"), stderr=err.decode(errors="replace")
    )


def _read_both(
    child: subprocess.Popen[bytes], name: str, deadline_s: float, timeout_s: float
) -> tuple[bytearray, bytearray]:
    assert child.stdout is not None and child.stderr is not None  # noqa: PT018, S101 - narrows the types
    streams = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray()}
    poll = select.poll()
    for descriptor in streams:
        poll.register(descriptor, select.POLLIN | select.POLLHUP)
    still_open = len(streams)
    while still_open:
        left_s = deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(f"{name} did not end within {timeout_s:g} s")
        for descriptor, _ in poll.poll(left_s * 1000):
            chunk = os.read(descriptor, _CHUNK)
            streams[descriptor] += chunk
            if len(streams[descriptor]) > MOST_BYTES:
                raise ContractBroken(f"{name} said more than {MOST_BYTES >> 20} MiB")
            if not chunk:
                poll.unregister(descriptor)
                still_open -= 1
    if not processes.await_end(child, deadline_s - time.monotonic()):
        raise TimeoutError(f"{name} did not end within {timeout_s:g} s")
    return streams[child.stdout.fileno()], streams[child.stderr.fileno()]


LONGEST_LINE = 1 << 20
MOST_STDERR = 64 << 20


class LineBuffer:
    """Bytes as they come, given out as lines; linear in what is printed, however it is cut.

    Once the process has printed more than it may, on either stream, nothing but that is given out.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._searched = 0
        self.broken: ContractBroken | None = None

    def take(self, chunk: bytes) -> None:
        """More output."""
        self._bytes += chunk

    def line(self) -> str | None:
        """Return the next line without its end; None when there is no whole one yet. ContractBroken."""
        if self.broken is not None:
            raise self.broken
        end = self._bytes.find(b"\n", self._searched)
        if (len(self._bytes) if end < 0 else end) > LONGEST_LINE:
            self._bytes.clear()
            self.broken = ContractBroken(f"it printed a line longer than {LONGEST_LINE >> 20} MiB on stdout")
            raise self.broken
        if end < 0:
            self._searched = len(self._bytes)
            return None
        line = self._bytes[:end].decode(errors="replace")
        del self._bytes[: end + 1]
        self._searched = 0
        return line

    def rest(self) -> str | None:
        """Return what came after the last line's end; None when nothing did. ContractBroken."""
        if self.broken is not None:
            raise self.broken
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
