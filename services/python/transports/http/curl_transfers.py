"""libcurl's multi interface on an event loop: transfers that are awaited, each with as few steps as it takes.

`pycurl.AsyncCurlMulti` has the event loop forget the socket after each reply and watch it anew, sends a request one turn of
the loop after it was made, and hears of a reply's end one turn late: most of a request's time on a kept connection. Here a
request is sent when it is made, its end is seen with its last bytes, and a socket stays watched when its last transfer left
the connection open, until libcurl opens another or something comes that no transfer waits for. Every other one is forgotten
at once, as its number is another connection's next; a closed socket that is watched aborts the process (libuv). libcurl's
time-outs move one timer of the event loop, which is set anew when it is late.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import stat
import time

import pycurl

_IN, _OUT, _REMOVE = pycurl.POLL_IN, pycurl.POLL_OUT, pycurl.POLL_REMOVE
_SELECT_IN, _SELECT_OUT, _TIMEOUT = pycurl.CSELECT_IN, pycurl.CSELECT_OUT, pycurl.SOCKET_TIMEOUT
_AT_ONCE_S = -math.inf
_UNKNOWN_S = math.nan
_LATE_S = 0.001  # the timers of an event loop count in milliseconds, and libcurl must find its time-out over


class Transfers:
    """A multi handle, with its connections; for the event loop that it is made on."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._under_way: dict[pycurl.Curl, asyncio.Future[bool]] = {}
        self._wanted: dict[int, int] = {}  # by socket: what libcurl waits for there, as POLL_IN, POLL_OUT or both
        self._read: set[int] = set()  # the sockets that the event loop watches
        self._written: set[int] = set()
        self._idle: set[int] = set()  # those of `_read` that libcurl waits for nothing at
        self._own: set[int] = set()  # those of `_read` that are no sockets: what libcurl wakes itself with
        self._due_s = math.inf  # libcurl's next time-out
        self._timer: asyncio.Handle | None = None
        self._timer_s = math.inf  # what it was set for
        self._is_closed = False
        self._multi = multi = pycurl.CurlMulti()
        multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        multi.setopt(pycurl.M_TIMERFUNCTION, self._postpone)

    def setopt(self, option: int, value: object) -> None:
        """Set an option (`pycurl.M_*`) of the multi handle."""
        self._multi.setopt(option, value)

    def begin(self, curl: pycurl.Curl) -> asyncio.Future[bool]:
        """Begin the transfer of an easy handle that has none under way. What is awaited ends with it, or as pycurl.error.

        It says whether the connection stays open.

        Whoever stops awaiting it must `stop` it.
        """
        self._multi.add_handle(curl)
        future = self._under_way[curl] = self._loop.create_future()
        self._act(_TIMEOUT, 0)
        return future

    def stop(self, curl: pycurl.Curl) -> None:
        """Give up the transfer of an easy handle; nothing where it has none under way."""
        if (future := self._under_way.pop(curl, None)) is None:
            return
        self._multi.remove_handle(curl)
        self._unwatch(self._idle)
        future.cancel()
        if not self._is_closed and self._due_s < self._timer_s:
            self._arm()

    def opened(self) -> None:
        """To be told when libcurl opens a socket: it may have the number of one that was closed meanwhile."""
        self._unwatch(self._idle)

    async def aclose(self) -> None:
        """Cancel what is under way, and close the connections; idempotent."""
        if self._is_closed:
            return
        self._is_closed = True  # from here on libcurl's word on its sockets counts for nothing: all of them are closed
        if self._timer is not None:
            self._timer.cancel()
        self._unwatch(self._read | self._written)
        for curl in list(self._under_way):
            self.stop(curl)
        self._multi.close()
        del self._multi  # it refers back to this, also when it is closed, and nobody collects cycles within a trial

    def _act(self, descriptor: int, events: int) -> None:
        """Let libcurl go on, and end the transfers that it has ended."""
        if descriptor == _TIMEOUT:
            self._due_s = _UNKNOWN_S
        try:
            _, running = self._multi.socket_action(descriptor, events)
        except pycurl.error as error:  # it can do nothing any more
            self._fail(error)
            return
        if running < len(self._under_way):
            self._end()
        elif self._idle:
            self._unwatch(self._idle)
        if self._due_s != self._due_s:  # libcurl says when its next time-out is only when it is another one
            self._postpone(self._multi.timeout())
        if self._due_s < self._timer_s:
            self._arm()

    def _end(self) -> None:
        _, ended, failed = self._multi.info_read()
        kept = set(self._own)
        for curl in ended:
            descriptor = curl.getinfo(pycurl.ACTIVESOCKET)  # -1: it is closed; known until the handle is removed
            kept.add(descriptor)
            self._multi.remove_handle(curl)
            future = self._under_way.pop(curl)
            if not future.done():
                future.set_result(descriptor >= 0)
        for curl, code, words in failed:
            self._multi.remove_handle(curl)
            future = self._under_way.pop(curl)
            if not future.done():
                future.set_exception(pycurl.error(code, words))
        self._unwatch(self._idle - kept)

    def _fail(self, error: pycurl.error) -> None:
        for curl, future in self._under_way.items():
            if not future.done():
                future.set_exception(error)
            with contextlib.suppress(pycurl.error):
                self._multi.remove_handle(curl)
        self._under_way.clear()
        self._unwatch(self._idle)

    def _watch(self, wanted: int, descriptor: int, _multi: object, _data: object) -> None:
        """libcurl's: what it waits for at a socket from here on."""
        if self._is_closed:
            return
        if wanted == _REMOVE:
            self._wanted.pop(descriptor, None)
            if descriptor in self._read:
                self._idle.add(descriptor)
        else:
            self._wanted[descriptor] = wanted
            self._idle.discard(descriptor)
        if wanted & _IN and descriptor not in self._read:
            self._read.add(descriptor)
            if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                self._own.add(descriptor)
            self._loop.add_reader(descriptor, self._readable, descriptor)
        is_written = descriptor in self._written
        if wanted & _OUT:
            if not is_written:
                self._written.add(descriptor)
                self._loop.add_writer(descriptor, self._act, descriptor, _SELECT_OUT)
        elif is_written:
            self._written.discard(descriptor)
            self._loop.remove_writer(descriptor)

    def _readable(self, descriptor: int) -> None:
        if self._wanted.get(descriptor, 0) & _IN:
            self._act(descriptor, _SELECT_IN)
        else:  # the other end has closed it, or sent what nobody asked for: it stays readable
            self._unwatch({descriptor})

    def _unwatch(self, descriptors: set[int]) -> None:
        for descriptor in tuple(descriptors):
            self._idle.discard(descriptor)
            self._own.discard(descriptor)
            if descriptor in self._read:
                self._read.discard(descriptor)
                self._loop.remove_reader(descriptor)
            if descriptor in self._written:
                self._written.discard(descriptor)
                self._loop.remove_writer(descriptor)

    def _postpone(self, timeout_ms: int) -> None:
        """libcurl's: when its next time-out is; -1: there is none. The event loop's timer may be earlier."""
        if timeout_ms > 0:
            self._due_s = time.monotonic() + timeout_ms / 1000
        else:
            self._due_s = _AT_ONCE_S if timeout_ms == 0 else math.inf

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_s = self._due_s
        if self._due_s == _AT_ONCE_S:
            self._timer = self._loop.call_soon(self._look)
        else:
            self._timer = self._loop.call_later(max(0.0, self._due_s - time.monotonic()) + _LATE_S, self._look)

    def _look(self) -> None:
        """Whether a time-out is over, or was postponed since the timer was set."""
        self._timer, self._timer_s = None, math.inf
        if self._due_s <= time.monotonic():
            self._act(_TIMEOUT, 0)
        elif self._due_s < math.inf:
            self._arm()
