"""Ctrl-C and SIGTERM: the first ends the run in order, the second at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from orchestrator.errors import Interrupted

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Turns the first signal into `Interrupted`, but only where the run loop waits or asks: never amid a write.

    Use as a context manager in the main thread. The second signal ends this process there and then: what it started
    ends with it, because its input closes, and the journal keeps every finished trial.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._waiting = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def checkpoint(self) -> None:
        """Raise Interrupted when a signal has come."""
        if self.received is not None:
            raise self._error()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While this block lasts, a signal raises Interrupted at once."""
        outer, self._waiting = self._waiting, True
        try:
            self.checkpoint()
            yield
        finally:
            self._waiting = outer

    def _error(self) -> Interrupted:
        name = "Ctrl-C" if self.received == signal.SIGINT else "SIGTERM"
        return Interrupted(
            f"interrupted by {name}; every finished trial is kept", hint="`orch run --resume` goes on with the schedule"
        )

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signal module's signature
        if self.received is not None:
            os.write(2, b"\nended at once; `orch teardown` ends what is still up, `orch run --resume` goes on\n")
            os._exit(Interrupted.exit_code)
        self.received = signal.Signals(number)
        if self._waiting:
            raise self._error()
