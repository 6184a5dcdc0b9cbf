"""`orch` called in this process, with its words, its streams and its exit code, where a test needs no process of its own.

A process imports for half a second of processor time before it does anything. What only a process has (signals, closed
streams, what is imported) is tested with one.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from orchestrator.cli.main import main
from tests.support.exported import standing_in


@dataclass(frozen=True)
class Called:
    """How a call ended, named as `subprocess.CompletedProcess` names it."""

    returncode: int
    stdout: str
    stderr: str


def orch(*words: str, cwd: Path, **environment: str) -> Called:
    """`orch WORDS` in the folder `cwd`; without a terminal."""
    out, err = io.StringIO(), io.StringIO()
    with (
        standing_in(cwd),
        patch.object(sys, "argv", ["orch", *words]),
        patch.dict(os.environ, environment),
        _as_it_was(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return Called(code, out.getvalue(), err.getvalue())


@contextmanager
def _as_it_was() -> Iterator[None]:
    """What `main` sets for a whole process is set back."""
    log = logging.getLogger("orchestrator")
    of_log = log.handlers, log.level, log.propagate
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        log.handlers, log.propagate = of_log[0], of_log[2]
        log.setLevel(of_log[1])
        for number, handler in handlers.items():
            signal.signal(number, handler)
