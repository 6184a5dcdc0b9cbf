"""The real stdout, kept for the lines of the process contract."""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

from services.python.contract.strict import Line
from services.python.contract.templates import HIDDEN

_LONGEST_SAID = 1_000  # characters


class Lines:
    """Writes lines of the contract to whoever started this program.

    Made before any library is imported: from then on file descriptor 1 is stderr, so that what a library prints (Flask
    a banner) cannot come between the lines. `leave` ends the process where nobody reads them.
    """

    def __init__(self) -> None:
        self.leave: Callable[[int], NoReturn] = leave
        self._hidden: tuple[str, ...] = ()
        self._descriptor = os.dup(1)
        os.dup2(2, 1)

    def hide(self, secrets: Iterable[str]) -> None:
        """From now on each line, and what `complain` is given by `hidden`, has `***` for these texts."""
        self._hidden = tuple(filter(None, secrets))

    def hidden(self, text: str) -> str:
        for secret in self._hidden:
            text = text.replace(secret, HIDDEN).replace(json.dumps(secret)[1:-1], HIDDEN)
        return text

    def lead_to(self, descriptor: int) -> None:
        """Write there from now on, and no longer to the real stdout; the descriptor given is closed."""
        os.dup2(descriptor, self._descriptor)
        os.close(descriptor)

    def write(self, line: Line) -> None:
        """One line, in one system call; when nobody reads any more, this process has no purpose left and ends."""
        left = self.hidden(line.to_json()).encode() + b"\n"
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except BrokenPipeError:
            self.leave(1)


def prepare() -> None:
    """No proxies for this process, as an end speaks with the other one alone; as many open files as it may have."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def leave(status: int) -> NoReturn:
    """End the process at once, with what was printed flushed, waiting for no thread and no library's farewell."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def end_with_stdin(program: str, hear: Callable[[str], None] | None = None) -> None:
    """Start a thread that ends this process when its stdin ends: whoever started it holds that open while they wait.

    `hear` is given each line that comes before, from that thread; without it they are passed over.
    """

    def watch() -> None:
        left = b""
        while came := os.read(0, 4096):
            *whole, left = (left[-4096:] + came).split(b"\n")
            for line in whole:
                if hear is not None:
                    hear(line.decode(errors="replace").strip())
        complain(f"{program}: stdin was closed before the work was done")
        leave(1)

    threading.Thread(target=watch, name="stdin", daemon=True).start()


def lines_of_stdin() -> Iterator[str]:
    """The lines of stdin to its end, without the space around them; what is no UTF-8 stands as U+FFFD."""
    for line in sys.stdin.buffer:
        yield line.decode(errors="replace").strip()


def complain(message: str) -> None:
    """One line on stderr."""
    line = " ".join(message.split())
    sys.stderr.write(f"{line if len(line) <= _LONGEST_SAID else line[: _LONGEST_SAID - 3] + '...'}\n")
