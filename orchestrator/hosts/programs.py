"""Runs a long program (Terraform, Ansible), its output in a log; one Ctrl-C reaches it once, and it is waited for.

A killed Terraform leaves its state locked, a killed Ansible half a deployment. The child therefore runs in a session of
its own, where the terminal's Ctrl-C does not reach it besides ours.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_logged(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Exit status and everything the program said; KeyboardInterrupt is passed on once the program has ended."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w+") as out:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        try:
            status = child.wait()
        except KeyboardInterrupt:
            _interrupt_once_and_wait(child)
            raise
        out.seek(0)
        return status, out.read()


def _interrupt_once_and_wait(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGINT)
    while True:
        try:
            child.wait()
        except KeyboardInterrupt:  # an impatient second Ctrl-C changes nothing
            continue
        return
