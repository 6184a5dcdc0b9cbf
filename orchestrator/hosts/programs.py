"""Runs a long program (Terraform, Ansible), its output in a log; one Ctrl-C reaches it once, and it is waited for.

A killed Terraform leaves its state locked, a killed Ansible half a deployment. The child therefore runs in a session of
its own, where the terminal's Ctrl-C does not reach it besides ours.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import Interrupted


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


def run_logged(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> Ended:
    """Run it to its end, stdout in `log` and stderr beside it; an interrupt is passed on once it has ended.

    The streams are kept apart because a program may warn on stderr while it answers in JSON on stdout.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w+") as out, log.with_suffix(".stderr.log").open("w+") as err:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        try:
            status = child.wait()
        except (KeyboardInterrupt, Interrupted):
            _interrupt_once_and_wait(child)
            raise
        out.seek(0)
        err.seek(0)
        return Ended(status=status, out=out.read(), err=err.read())


def _interrupt_once_and_wait(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGINT)
    while True:
        try:
            child.wait()
        except (KeyboardInterrupt, Interrupted):  # an impatient second Ctrl-C changes nothing
            continue
        return
