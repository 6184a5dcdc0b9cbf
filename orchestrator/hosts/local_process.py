"""A process of the contract on this machine: lines in, lines out, and never longer alive than the one who started it."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO, cast

LAST_WORDS = 4_000
_CHUNK = 65_536


class LocalProcess:
    """A child in a session of its own, so that a Ctrl-C at the terminal reaches only orch, which then ends it in order.

    It dies with its parent three times over: its stdin closes, the kernel kills it (`setpriv --pdeathsig`, where there
    is one), and `end` signals its whole process group.
    """

    def __init__(self, argv: Sequence[str], *, env: dict[str, str] | None = None, cwd: Path | None = None) -> None:
        self._popen = subprocess.Popen(
            [*dies_with_parent(), *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=env,
            cwd=cwd,
        )
        self._stdin, self._stdout, self._stderr = (
            cast("IO[bytes]", pipe) for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        )
        self._pending = b""
        self._tail: deque[bytes] = deque()
        self._drain = threading.Thread(target=self._keep_tail, name=f"stderr-{self.pid}", daemon=True)
        self._drain.start()

    @property
    def pid(self) -> int:
        """The process id, which is its process group's too."""
        return self._popen.pid

    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._popen.poll() is None

    def send(self, line: str) -> None:
        """One line to its stdin; BrokenPipeError when it is gone."""
        if self._stdin.closed:
            raise BrokenPipeError("stdin is closed")
        self._stdin.write(line.encode() + b"\n")
        self._stdin.flush()

    def read(self, timeout_s: float) -> str | None:
        """The next line of its stdout; None at end of output; TimeoutError after `timeout_s`."""
        if self._stdout.closed:
            return None
        deadline = time.monotonic() + timeout_s
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN | select.POLLHUP)
        while b"\n" not in self._pending:
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise TimeoutError(f"no line within {timeout_s:g} s")
            chunk = os.read(self._stdout.fileno(), _CHUNK)
            if not chunk:
                return self._rest()
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode(errors="replace")

    def close_stdin(self) -> None:
        """End of input: a responder ends, a requester starts none."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()

    def end(self, grace_s: float = 5.0) -> int:
        """End it and whatever it started in its group; the exit status (negative: the signal). Idempotent."""
        self.close_stdin()
        if self._popen.poll() is None:
            self._signal(signal.SIGTERM)
            try:
                self._popen.wait(grace_s)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self._popen.wait()
        if not self._stdout.closed:
            self._signal(signal.SIGKILL)  # what it left behind in its group, e.g. a server's workers
            self._drain.join(timeout=1.0)
            self._stdout.close()
        return self._popen.returncode

    def last_words(self) -> str:
        """The tail of its stderr, at most 4,000 characters."""
        if self._popen.poll() is not None:
            self._drain.join(timeout=1.0)
        return b"".join(tuple(self._tail)).decode(errors="replace")[-LAST_WORDS:].strip()

    def _rest(self) -> str | None:
        line, self._pending = self._pending, b""
        return line.decode(errors="replace") or None

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS answers EPERM for a group of zombies
            os.killpg(self.pid, number)

    def _keep_tail(self) -> None:
        kept = 0
        with self._stderr:
            while chunk := os.read(self._stderr.fileno(), _CHUNK):
                self._tail.append(chunk)
                kept += len(chunk)
                while kept - len(self._tail[0]) >= 4 * LAST_WORDS:  # UTF-8 takes at most four bytes a character
                    kept -= len(self._tail.popleft())


@cache
def dies_with_parent() -> tuple[str, ...]:
    """An argv prefix that has the kernel end the process when the one who started it dies; empty where there is none."""
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    if setpriv is None:
        return ()
    prefix = (setpriv, "--pdeathsig", "KILL")
    probe = subprocess.run([*prefix, "true"], capture_output=True, check=False)  # busybox's knows no --pdeathsig
    return prefix if probe.returncode == 0 else ()


def started_at(pid: int) -> str | None:
    """When the process of that id started, in the system's own words, so that a reused id is told apart; None if gone."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return None if fields[0] in "ZX" else fields[19]
    answer = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return answer.stdout.strip() or None
