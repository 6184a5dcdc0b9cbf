"""Runs a long program (Terraform, Ansible), its output in a log; one Ctrl-C reaches it once, and it is waited for in steps.

A killed Terraform leaves its state locked, a killed Ansible half a deployment. The child therefore runs in a session of
its own, where the terminal's Ctrl-C does not reach it besides ours. When orch itself is killed the child goes on; it
holds a lock of the deployment as long as it lives, so whoever comes next waits for it or ends it in order.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from orchestrator.errors import Interrupted, ProvisionError
from orchestrator.hosts import processes
from orchestrator.hosts.base import Completed
from orchestrator.hosts.processes import RUN_MARK, Known, try_lock

LOCK = "running.lock"
WAIT_S = 900.0  # for a program that another orch started: a cloud takes minutes to make what it was asked for
PATIENCE_S = 40.0  # after an interrupt, until the next step; what the state does not know of then, the sweep finds
KILL_S = 20.0
_LOOK_S = 0.1
_LOG = logging.getLogger(__name__)


def run_logged(command: Sequence[str], log: Path, environment: Mapping[str, str], *, lock: Path) -> Completed:
    """Run it to its end, stdout in `log` and stderr beside it; an interrupt is passed on once it has ended.

    To end it, orch sends SIGINT, then SIGTERM and SIGKILL if it goes on.

    The streams are separate because a program may warn on stderr while it answers in JSON on stdout. One program runs
    at a time under one `lock`; one that a killed orch left there is waited for.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with _held(lock) as held, log.open("w+") as out, log.with_suffix(".stderr.log").open("w+") as err:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **environment, RUN_MARK: _mark(lock)},
            start_new_session=True,
            pass_fds=(held,),
        )
        program = processes.known(child.pid)
        if program is not None:
            os.pwrite(held, f"{program.pid} {program.started}\n".encode(), 0)
        try:
            child.wait()
        except BaseException:
            _interrupt_and_wait(child, program, lock)
            raise
        out.seek(0)
        err.seek(0)
        return Completed(returncode=child.returncode, stdout=out.read(), stderr=err.read())


def end_orphan(lock: Path, patience_s: float = PATIENCE_S, kill_s: float = KILL_S) -> bool:
    """End the program that a killed orch left running under `lock`: SIGINT, SIGTERM, SIGKILL, and what it started too.

    Stopped ones are woken. False when there is none. ProvisionError when something holds the lock even then.
    """
    if not lock.exists():
        return False
    descriptor = os.open(lock, os.O_RDWR)
    try:
        if try_lock(descriptor):
            return False
        if (program := _written(descriptor)) is not None:
            _end(program, lock, ((signal.SIGINT, patience_s), (signal.SIGTERM, kill_s)), kill_s)
        _await_lock(descriptor, lock, kill_s)
        return True
    finally:
        os.close(descriptor)


@contextmanager
def _held(lock: Path) -> Iterator[int]:
    """The descriptor of the lock, held; a child that inherits it holds it too."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not try_lock(descriptor):
            _LOG.info("waiting for %s, which another orch started here", _written(descriptor) or "a program")
            _await_lock(descriptor, lock, WAIT_S)
        os.ftruncate(descriptor, 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _await_lock(descriptor: int, lock: Path, patience_s: float) -> None:
    deadline = time.monotonic() + patience_s
    while not try_lock(descriptor):
        if time.monotonic() > deadline:
            program = _written(descriptor) or "a program"
            raise ProvisionError(
                f"{program}, which another orch started, is still at work after {patience_s:g} s",
                hint=f"`orch teardown` ends it; its process id is in {lock}",
            )
        time.sleep(_LOOK_S)  # flock has no time-out


def _written(descriptor: int) -> Known | None:
    """The program that the lock names, if it is still the one that was started then."""
    words = os.pread(descriptor, 200, 0).decode(errors="replace").split(maxsplit=1)
    if len(words) != 2 or not words[0].isdecimal():
        return None
    program = processes.known(int(words[0]))
    return program if program is not None and program.started == words[1].strip() else None


def _mark(lock: Path) -> str:
    """What the environment of every program of a deployment says: the folder is named after the deployment."""
    return lock.resolve().parent.name


def _end(program: Known, lock: Path, steps: processes.Steps, kill_s: float) -> None:
    """End it in steps: itself first, so that it can put things in order, then all that it has started."""
    processes.end(lambda: [program] if program.is_alive else [], steps, group=False)
    mark = _mark(lock)
    left = processes.end(lambda: processes.marked(RUN_MARK, mark), ((signal.SIGKILL, kill_s),))
    if left:
        _LOG.warning("not even SIGKILL ended %s", ", ".join(map(str, left)))


def _interrupt_and_wait(child: subprocess.Popen[bytes], program: Known | None, lock: Path) -> None:
    """As `end_orphan`, of a program of our own; an impatient second Ctrl-C changes nothing."""
    first = signal.SIGINT
    while program is not None and child.poll() is None:
        try:
            _end(program, lock, ((first, PATIENCE_S), (signal.SIGTERM, KILL_S)), KILL_S)
            break
        except (KeyboardInterrupt, Interrupted):
            first = signal.SIGCONT  # Terraform takes a second interrupt for an order to drop everything
    with suppress(subprocess.TimeoutExpired):
        child.wait(KILL_S)
