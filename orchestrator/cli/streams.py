"""Standard streams that outlive their reader: `orch plan | head`, a terminal that was closed."""

from __future__ import annotations

import errno
import io
import logging
import sys
from typing import Any, TextIO

from orchestrator.cli.console import console

_GONE = (errno.EPIPE, errno.EIO)


class _Steady(io.FileIO):
    """A file that writes nowhere once its reader is gone, for what a verb does does not depend on its reader.

    Other errors (a full disk under `> file`) are raised.
    """

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            if error.errno not in _GONE:
                raise
            return len(content)


class _ToConsole(logging.Handler):
    """What deeper layers report to a person who waits."""

    def emit(self, record: logging.LogRecord) -> None:
        console.progress(record.getMessage())


def settle() -> None:
    """Make the standard streams of this process steady, and let the console and the log write to them."""
    sys.stdout, sys.stderr = _steady(sys.stdout, 1), _steady(sys.stderr, 2)
    console.out, console.err = sys.stdout, sys.stderr
    log = logging.getLogger("orchestrator")
    log.handlers = [_ToConsole()]
    log.setLevel(logging.INFO)
    log.propagate = False


def _steady(stream: TextIO, descriptor: int) -> TextIO:
    """A stream over that descriptor; what its encoding lacks is shown as its escape. A stream of another kind stays."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    file = _Steady(descriptor, "w", closefd=False)
    is_unbuffered = descriptor == 2 or file.isatty()
    return io.TextIOWrapper(io.BufferedWriter(file), stream.encoding, "backslashreplace", line_buffering=is_unbuffered)
