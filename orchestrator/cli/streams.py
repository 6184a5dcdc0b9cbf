"""Standard streams that outlive their reader: `orch plan | head`, a terminal that was closed, `orch run 2>&-`."""

from __future__ import annotations

import errno
import io
import logging
import os
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
    """Make the standard streams of this process steady, and let the console and the log write to them.

    Closed ones are opened to nothing first: or else the next file opened, the journal say, would get their number.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdout, sys.stderr = _steady(sys.stdout, 1), _steady(sys.stderr, 2)
    console.out, console.err = sys.stdout, sys.stderr
    log = logging.getLogger("orchestrator")
    log.handlers = [_ToConsole()]
    log.setLevel(logging.INFO)
    log.propagate = False


def _steady(stream: TextIO | None, descriptor: int) -> TextIO:
    """A stream over that descriptor; what its encoding lacks is shown as its escape. A stream of another kind stays."""
    if stream is not None and not isinstance(stream, io.TextIOWrapper):
        return stream
    file = _Steady(descriptor, "w", closefd=False)
    encoding = "utf-8" if stream is None else stream.encoding
    is_unbuffered = descriptor == 2 or file.isatty()
    return io.TextIOWrapper(io.BufferedWriter(file), encoding, "backslashreplace", line_buffering=is_unbuffered)
