"""Wakes tasks at stamps of the monotonic clock, more exactly than an event loop's own timers.

Those count in milliseconds (libuv), which would itself be most of the latency from the intended time on a fast network.
A timer descriptor of Linux wakes the loop instead, and costs no spinning.
"""

from __future__ import annotations

import asyncio
import ctypes
import heapq
import itertools
import os
import struct
from collections.abc import Callable
from types import TracebackType
from typing import Self

from services.python.load.phases import NS

_CLOCK_MONOTONIC = 1
_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC
_ABSOLUTE = 1
_ITIMERSPEC = struct.Struct("@llll")  # interval and first expiry, seconds and nanoseconds each


class Pacer:
    """One timer of one event loop, for any number of tasks; a context manager."""

    def __init__(self, loop: asyncio.AbstractEventLoop, clock_ns: Callable[[], int]) -> None:
        self._loop = loop
        self._clock_ns = clock_ns
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []  # a heap: the next to wake first
        self._numbers = itertools.count()
        self._is_open = True
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = -1

    def __enter__(self) -> Self:
        self._descriptor = self._libc.timerfd_create(_CLOCK_MONOTONIC, _NONBLOCK_CLOEXEC)
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self._loop.add_reader(self._descriptor, self._expired)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)

    async def until(self, due_ns: int) -> None:
        """Return at `due_ns`, or at once when that has passed, or when nobody is to wait any more (`release`)."""
        while self._is_open and due_ns > self._clock_ns():
            woken: asyncio.Future[None] = self._loop.create_future()
            heapq.heappush(self._waiting, (due_ns, next(self._numbers), woken))
            if self._waiting[0][2] is woken:
                self._set(due_ns)
            await woken

    def release(self) -> None:
        """Wake all who wait; nobody waits from now on."""
        self._is_open = False
        for _, _, woken in self._waiting:
            if not woken.done():
                woken.set_result(None)

    def _set(self, due_ns: int) -> None:
        spec = _ITIMERSPEC.pack(0, 0, due_ns // NS, due_ns % NS)
        if self._libc.timerfd_settime(self._descriptor, _ABSOLUTE, spec, None) != 0:
            raise OSError(ctypes.get_errno(), "timerfd_settime")

    def _expired(self) -> None:
        os.read(self._descriptor, 8)
        now_ns = self._clock_ns()
        while self._waiting and (self._waiting[0][0] <= now_ns or self._waiting[0][2].done()):
            woken = heapq.heappop(self._waiting)[2]
            if not woken.done():
                woken.set_result(None)
        if self._waiting:
            self._set(self._waiting[0][0])
