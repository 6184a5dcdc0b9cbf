"""A process of the contract on this machine: lines in, lines out, and never longer alive than the one who started it."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO, cast

from orchestrator.hosts import processes
from orchestrator.hosts.base import ContractBroken
from orchestrator.hosts.output import LineBuffer
from orchestrator.hosts.processes import PROCESS_MARK

LAST_WORDS = 4_000
_CHUNK = 65_536
_SEND_S = 30.0


class LocalProcess:
    """A child in a session of its own, so that a Ctrl-C at the terminal reaches only orch, which then ends it in order.

    It dies with its parent three times over: its stdin closes, the kernel kills it (`setpriv --pdeathsig`, where there
    is one), and `end` signals its whole process group. What it started in other sessions is found by a mark.
    """

    def __init__(self, argv: Sequence[str], *, env: dict[str, str] | None = None, cwd: Path | None = None) -> None:
        self._mark = secrets.token_hex(8)
        self._popen = subprocess.Popen(
            [*dies_with_parent(), *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**(os.environ if env is None else env), PROCESS_MARK: self._mark},
            cwd=cwd,
        )
        self._stdin, self._stdout, self._stderr = (
            cast("IO[bytes]", pipe) for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        )
        os.set_blocking(self._stdin.fileno(), False)
        self._lines = LineBuffer()
        self._tail = b""
        self._stop, self._stopper = os.pipe()
        self._drain = threading.Thread(target=self._keep_tail, name=f"stderr-{self.pid}", daemon=True)
        self._drain.start()

    @property
    def pid(self) -> int:
        """The process id, which is its process group's too."""
        return self._popen.pid

    def is_running(self) -> bool:
        return not processes.has_ended(self._popen)

    def send(self, line: str) -> None:
        if self._stdin.closed:
            raise BrokenPipeError("stdin is closed")
        rest = memoryview(line.encode() + b"\n")
        deadline = time.monotonic() + _SEND_S
        poll = select.poll()
        poll.register(self._stdin, select.POLLOUT)
        while rest:
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise BrokenPipeError(f"it has read nothing for {_SEND_S:g} s")
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(self._stdin.fileno(), rest) :]

    def read(self, timeout_s: float) -> str | None:
        if self._stdout.closed:
            return None
        try:
            line = self._lines.read(self._receive, timeout_s)
        except ContractBroken:
            self._signal(signal.SIGKILL)
            raise
        if line is None and not self.is_running():
            self._drain.join(timeout=1.0)  # which may know why it ended
        return self._lines.rest() if line is None else line

    def _receive(self, patience_s: float) -> bytes:
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN | select.POLLHUP)
        if not poll.poll(patience_s * 1000):
            raise TimeoutError
        return os.read(self._stdout.fileno(), _CHUNK)

    def close_stdin(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()

    def end(self, grace_s: float = 5.0) -> int:
        """End it and whatever it started, in its group and out of it; the exit status (negative: the signal). Idempotent.

        What even SIGKILL does not end within `grace_s` (it may hang in the kernel) stays, and a teardown names it.
        """
        self.close_stdin()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self.is_running():
                break
            self._signal(number)
            self._signal(signal.SIGCONT)  # what is stopped does not hear SIGTERM
            processes.await_end(self._popen, grace_s)
        if not self._stdout.closed:
            self._signal(signal.SIGKILL)  # what it left behind in its group, e.g. a server's workers
            processes.end(lambda: processes.marked(PROCESS_MARK, self._mark), processes.KILLING)
            self._drain.join(timeout=1.0)
            os.close(self._stopper)
            self._drain.join(timeout=1.0)
            self._stdout.close()
        status = self._popen.poll()  # collected last: until then nobody else gets the id
        return status if status is not None else -signal.SIGKILL

    def last_words(self) -> str:
        if not self.is_running():
            self._drain.join(timeout=1.0)
        return self._tail.decode(errors="replace")[-LAST_WORDS:].strip()

    def _signal(self, number: signal.Signals) -> None:
        processes.signal_group(self._popen, number)

    def _keep_tail(self) -> None:
        poll = select.poll()
        poll.register(self._stderr, select.POLLIN | select.POLLHUP)
        poll.register(self._stop, select.POLLIN | select.POLLHUP)
        with self._stderr:
            while (ready := dict(poll.poll())).get(self._stderr.fileno()) or self._stop not in ready:
                chunk = os.read(self._stderr.fileno(), _CHUNK)
                if not chunk:
                    break
                self._tail = (self._tail + chunk)[-4 * LAST_WORDS :]  # UTF-8 takes at most four bytes a character
                if self._lines.is_flooded(chunk):
                    self._signal(signal.SIGKILL)
                    break
        os.close(self._stop)


@cache
def dies_with_parent(number: str = "KILL") -> tuple[str, ...]:
    """An argv prefix that has the kernel send the process a signal when its parent dies; empty where there is none."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return ()
    prefix = (setpriv, "--pdeathsig", number)
    probe = subprocess.run([*prefix, "true"], capture_output=True, check=False)  # busybox's knows no --pdeathsig
    return prefix if probe.returncode == 0 else ()
