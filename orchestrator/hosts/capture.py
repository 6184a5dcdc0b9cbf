"""Runs a short command on this machine to its end, and keeps what it says, up to a bound of time and of size."""

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
    said = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray()}
    poll = select.poll()
    for descriptor in said:
        poll.register(descriptor, select.POLLIN | select.POLLHUP)
    still_open = len(said)
    while still_open:
        left_s = deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(f"{name} did not end within {timeout_s:g} s")
        for descriptor, _ in poll.poll(left_s * 1000):
            chunk = os.read(descriptor, _CHUNK)
            said[descriptor] += chunk
            if len(said[descriptor]) > MOST_BYTES:
                raise ContractBroken(f"{name} said more than {MOST_BYTES >> 20} MiB")
            if not chunk:
                poll.unregister(descriptor)
                still_open -= 1
    if not processes.await_end(child, deadline_s - time.monotonic()):
        raise TimeoutError(f"{name} did not end within {timeout_s:g} s")
    return said[child.stdout.fileno()], said[child.stderr.fileno()]
