"""What processes print: short commands to their end, and the lines and stderr of longer ones, up to a bound."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from orchestrator.hosts import processes
from orchestrator.hosts.base import Completed, ContractBroken


def capture(
    command: Sequence[str], *, timeout_s: float, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Completed:
    """Run it with an empty stdin, in a session of its own.

    TimeoutError when it, or what it started and left its output to, runs for longer than `timeout_s`. Then, and when an
    exception comes in between, its group is killed.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=env, cwd=cwd, start_new_session=True
    ) as child:
        try:
            out, err = child.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{command[0]} did not end within {timeout_s:g} s") from None
        finally:
            processes.signal_group(child, signal.SIGKILL)
    return Completed(
        returncode=child.returncode, stdout=out.decode(errors="replace"), stderr=err.decode(errors="replace")
    )


LONGEST_LINE = 1 << 20
MOST_STDERR = 64 << 20


class LineBuffer:
    """What a process prints: stdout given out as lines, linear in what is printed, however it is cut; stderr counted.

    Once it has printed more than it may, on either stream, nothing but that is given out.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._searched = 0
        self._stderr_line, self._stderr = 0, 0
        self.broken: ContractBroken | None = None

    def read(self, receive: Callable[[float], bytes], timeout_s: float) -> str | None:
        """Return the next line of what `receive` brings in that time; None at the end. TimeoutError, ContractBroken."""
        deadline_s, is_over = time.monotonic() + timeout_s, False
        while (line := self.line()) is None:
            if is_over:
                raise TimeoutError(f"no line within {timeout_s:g} s, though it prints")
            try:
                chunk = receive(max(0.0, deadline_s - time.monotonic()))
            except TimeoutError:
                raise TimeoutError(f"no line within {timeout_s:g} s") from None
            if not chunk:
                return None
            self._bytes += chunk
            is_over = time.monotonic() >= deadline_s
        return line

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

    def is_flooded(self, stderr: bytes) -> bool:
        """Whether, with these bytes, a line of stderr or all of it is too long."""
        end = stderr.rfind(b"\n")
        self._stderr_line = self._stderr_line + len(stderr) if end < 0 else len(stderr) - end - 1
        self._stderr += len(stderr)
        if self._stderr_line > LONGEST_LINE:
            self.broken = ContractBroken(f"it printed a line longer than {LONGEST_LINE >> 20} MiB on stderr")
        elif self._stderr > MOST_STDERR:
            self.broken = ContractBroken(f"it printed more than {MOST_STDERR >> 20} MiB on stderr")
        return self.broken is not None
