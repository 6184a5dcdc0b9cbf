"""Ctrl-C, SIGTERM, a closed terminal, and the end of the wall time: each ends the run in order, wherever it waits.

Nothing here reads: signals and the timer interrupt whatever the main thread waits for.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from orchestrator.errors import KEPT, Interrupted

SESSION = "session"  # the journal's event that names the process which a signal must go to
_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP (the terminal was closed)"}


# A signal and not only a flag, so that it interrupts what blocks. SIGALRM is left to programs that we run within.
_TIMER_SIGNAL = signal.SIGVTALRM


class OutOfTime(Exception):
    """The run's wall time is used up; not an error: what is finished is kept and reported."""


class Interrupts:
    """Turns the first signal into `Interrupted`, but only where the run loop waits or asks: never amid a write.

    Use as a context manager in the main thread. The second Ctrl-C or SIGTERM ends this process there and then: what it
    started ends with it, because its input closes, and the journal keeps every finished trial. SIGHUP does not count for
    that: a terminal that closes sends several, and so does a session that ends together with SIGTERM; under nohup it is
    ignored. `allow` sets a time after which `OutOfTime` is raised in the same places.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._asked = 0
        self._is_out_of_time = False
        self._is_waiting = False
        self._timer: threading.Timer | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        for number in _NAMES:
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._handle)
        self._before[_TIMER_SIGNAL] = signal.signal(_TIMER_SIGNAL, self._time_is_up)
        return self

    def __exit__(self, *_: object) -> None:
        self.allow(None)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def allow(self, seconds: float | None) -> None:
        """From now on so many seconds, then OutOfTime; None: as long as it takes. Nothing outside the `with` block."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        self._is_out_of_time, self._timer = False, None
        if seconds is not None and self._before:
            main = threading.main_thread().ident or 0
            self._timer = threading.Timer(
                min(max(0.0, seconds), threading.TIMEOUT_MAX), signal.pthread_kill, (main, _TIMER_SIGNAL)
            )
            self._timer.daemon = True
            self._timer.start()

    def checkpoint(self) -> None:
        """Raise Interrupted when a signal has come."""
        if self.received is not None:
            raise self._error()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While this block lasts, a signal raises Interrupted at once, and the end of the time OutOfTime."""
        outer, self._is_waiting = self._is_waiting, True
        try:
            self.checkpoint()
            if self._is_out_of_time:
                raise OutOfTime
            yield
        finally:
            self._is_waiting = outer

    def _error(self) -> Interrupted:
        name = _NAMES.get(self.received or signal.SIGINT, "a signal")
        return Interrupted(f"interrupted by {name}; {KEPT}", hint="`orch run --resume` finishes the run")

    def _time_is_up(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signal module's signature
        self._is_out_of_time = True
        if self._is_waiting:
            raise OutOfTime

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signal module's signature
        self._asked += number != signal.SIGHUP
        if self._asked > 1:
            with suppress(OSError):  # the terminal may be gone
                os.write(
                    2,
                    b"\nended at once; `orch teardown` takes down what is still up, `orch run --resume` continues the run\n",
                )
            os._exit(Interrupted.exit_code)
        if self.received is None:
            self.received = signal.Signals(number)
            if self._is_waiting:
                raise self._error()


@contextmanager
def without_terminal() -> Iterator[None]:
    """While this block lasts, a terminal that closes ends nothing: teardown runs to its end."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
