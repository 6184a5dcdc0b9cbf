"""Runs a long program (Terraform, Ansible), its output in a log; one Ctrl-C reaches it once, and it is waited for.

A killed Terraform leaves its state locked, a killed Ansible half a deployment. The child therefore runs in a session of
its own, where the terminal's Ctrl-C does not reach it besides ours. When orch itself is killed the child goes on; it
holds a lock of the deployment as long as it lives, so whoever comes next waits for it or ends it in order.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import Interrupted, ProvisionError

LOCK = "running.lock"
PATIENCE_S = 900.0  # a cloud takes minutes to make what it was asked for
_LOOK_S = 0.1


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How the program ended, and what it said on its two streams."""

    status: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Everything it said."""
        return f"{self.out}\n{self.err}"


def run_logged(command: Sequence[str], log: Path, environment: Mapping[str, str], *, lock: Path) -> Ended:
    """Run it to its end, stdout in `log` and stderr beside it; an interrupt is passed on once it has ended.

    The streams are kept apart because a program may warn on stderr while it answers in JSON on stdout. One program runs
    at a time under one `lock`; one that a killed orch left there is waited for.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with _held(lock) as held, log.open("w+") as out, log.with_suffix(".stderr.log").open("w+") as err:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **environment},
            start_new_session=True,
            pass_fds=(held,),
        )
        os.pwrite(held, f"{child.pid}\n".ljust(20).encode(), 0)
        try:
            status = child.wait()
        except (KeyboardInterrupt, Interrupted):
            _interrupt_once_and_wait(child)
            raise
        out.seek(0)
        err.seek(0)
        return Ended(status=status, out=out.read(), err=err.read())


def end_orphan(lock: Path, patience_s: float = PATIENCE_S) -> bool:
    """Interrupt, once, the program that a killed orch left running under `lock`, and wait until it has ended.

    False when there is none. ProvisionError when it has not ended in time.
    """
    if not lock.exists():
        return False
    descriptor = os.open(lock, os.O_RDWR)
    try:
        if _try_lock(descriptor):
            return False
        words = os.pread(descriptor, 20, 0).split()
        if words:
            # Who holds the lock wrote the id, or inherited the lock: it cannot be somebody else's by now.
            with suppress(ProcessLookupError):
                os.kill(int(words[0]), signal.SIGINT)
        _await_lock(descriptor, lock, patience_s)
        return True
    finally:
        os.close(descriptor)


@contextmanager
def _held(lock: Path) -> Iterator[int]:
    """The descriptor of the lock, held; a child that inherits it holds it too."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _try_lock(descriptor):
            _await_lock(descriptor, lock, PATIENCE_S)
        os.ftruncate(descriptor, 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _await_lock(descriptor: int, lock: Path, patience_s: float) -> None:
    deadline = time.monotonic() + patience_s
    while not _try_lock(descriptor):
        if time.monotonic() > deadline:
            raise ProvisionError(
                f"a program that an earlier orch started is still at work after {patience_s:g} s",
                hint=f"its process id is in {lock}",
            )
        time.sleep(_LOOK_S)  # flock has no time-out


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _interrupt_once_and_wait(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGINT)
    while True:
        try:
            child.wait()
        except (KeyboardInterrupt, Interrupted):  # an impatient second Ctrl-C changes nothing
            continue
        return
