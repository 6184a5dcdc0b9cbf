"""Standard streams that outlive their reader: `orch plan | head`, a terminal that was closed, `orch run 2>&-`."""

from __future__ import annotations

import errno
import io
import logging
import os
import sys
from typing import IO, TextIO, cast

from orchestrator.cli.console import console

_GONE = (errno.EPIPE, errno.EIO)


class Steady(io.TextIOBase):
    """A text stream that writes nowhere once its reader is gone, for what a verb does does not depend on its reader.

    Other errors (a full disk under `> file`) are raised. All but writing is the stream's own.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """See `TextIO.write`."""
        try:
            return self._stream.write(text)
        except OSError as error:
            self._go_on_without_reader(error)
            return len(text)

    def flush(self) -> None:
        """See `TextIO.flush`."""
        try:
            self._stream.flush()
        except OSError as error:
            self._go_on_without_reader(error)

    def isatty(self) -> bool:
        """See `TextIO.isatty`."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """See `TextIO.fileno`."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """See `TextIO.writable`."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base has it writable
        """See `TextIO.encoding`."""
        return self._stream.encoding

    @property
    def buffer(self) -> IO[bytes]:
        """See `TextIO.buffer`."""
        return self._stream.buffer

    def _go_on_without_reader(self, error: OSError) -> None:
        """Put nothing in the place of what is gone: what waits in buffers then ends without an error at exit too."""
        if error.errno not in _GONE:
            raise error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


class _ToConsole(logging.Handler):
    """What deeper layers have to say to a person who waits."""

    def emit(self, record: logging.LogRecord) -> None:
        console.progress(record.getMessage())


def settle() -> None:
    """Make the standard streams of this process steady, and let the console and the log write to them.

    Closed ones are opened to nothing first: or else the next file opened, the journal say, would get their number.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what an encoding lacks is shown as its escape
            stream.reconfigure(errors="backslashreplace")
    sys.stdout = cast("TextIO", Steady(sys.stdout or _nowhere()))
    sys.stderr = cast("TextIO", Steady(sys.stderr or _nowhere()))
    console.out, console.err = sys.stdout, sys.stderr
    log = logging.getLogger("orchestrator")
    log.handlers = [_ToConsole()]
    log.setLevel(logging.INFO)
    log.propagate = False


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - it lives as long as the process
