"""Wraps any client's dialer, so that the requests that the true rule times are timed by the misleading ones as well.

Neither protocols nor load loops know of it (`load.task` does the same for tasks). Inside the timed call stand five more
clock readings; what the rules make of them is worked out when the call is over.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from services.python.contract.timing_rules import BATCH, EVENTS
from services.python.load.client import (
    AsyncConnection,
    AsyncDialer,
    CallFailed,
    Connection,
    Dialer,
    Part,
    Reply,
    Request,
)
from services.python.misleading.rules import IN_ORDER, Noted

Clock = Callable[[], int]

Wrapped = TypeVar("Wrapped", Connection, AsyncConnection)


class Batches:
    """When the first call of each batch began; one for all connections of a trial, as code in a loop has it."""

    def __init__(self) -> None:
        self._calls = 0
        self._first_ns: dict[int, int] = {}

    def begin(self) -> None:
        """The next call is the first of a batch of each size: a phase begins."""
        self._calls = 0

    def enter(self, begun_ns: int) -> tuple[int, int]:
        """Count a call that begins now; when the first of its fifty and the first of its thousand did."""
        for size in (BATCH, EVENTS):
            if self._calls % size == 0:
                self._first_ns[size] = begun_ns
        self._calls += 1
        return self._first_ns[BATCH], self._first_ns[EVENTS]


class _Noting(Generic[Wrapped]):
    """What both styles have alike."""

    def __init__(self, connection: Wrapped, opening_ns: int, batches: Batches, clock: Clock) -> None:
        self._connection: Wrapped = connection
        self._opening_ns = opening_ns
        self._batches = batches
        self._clock = clock
        self.has_unasked = getattr(connection, "has_unasked", None)
        self.shared: int | None = getattr(connection, "shared", None)

    @property
    def body(self) -> Any:
        """That of the client's own connection."""
        return self._connection.body

    def value(self, noted: Noted) -> Reply:
        """See `Connection.value`."""
        return self._connection.value(noted.reply)

    def sizes(self, request: Request, noted: Noted) -> tuple[int, int]:
        """See `Connection.sizes`."""
        return self._connection.sizes(request, noted.reply)

    def parts(self, request: Request, noted: Noted) -> Sequence[Part]:
        """What each rule says, in the order of `contract.timing_rules.RULES`; CallFailed for a reply without a stamp."""
        reply = self._connection.value(noted.reply)
        try:
            stamps = [rule(noted, request, reply) for rule in IN_ORDER]
        except ValueError as error:
            raise CallFailed("wrong-reply", f"its stamp is no moment: {error}") from error
        return [Part(sent_ns=sent, received_ns=received, bytes_sent=-1, bytes_received=-1) for sent, received in stamps]

    def _note(self, reply: Any, begun_ns: int, queued_ns: int, cpu_ns: int, ended_ns: int) -> Noted:
        first_of_batch_ns, first_of_events_ns = self._batches.enter(begun_ns)
        opening_ns, self._opening_ns = self._opening_ns, 0
        return Noted(
            reply=reply,
            begun_ns=begun_ns,
            queued_ns=queued_ns,
            ended_ns=ended_ns,
            cpu_ns=cpu_ns,
            first_of_batch_ns=first_of_batch_ns,
            first_of_events_ns=first_of_events_ns,
            opening_ns=opening_ns,
        )


class _BlockingNoting(_Noting[Connection]):
    """Its requests go through a queue, from which the same thread takes them: no other thread, which would take time."""

    def __init__(self, connection: Connection, opening_ns: int, batches: Batches, clock: Clock) -> None:
        super().__init__(connection, opening_ns, batches, clock)
        self._queue: deque[Request] = deque()

    def call(self, request: Request) -> Noted:
        clock, queue = self._clock, self._queue
        begun_ns = clock()
        cpu_begun_ns = time.process_time_ns()
        queue.append(request)
        queued_ns = clock()
        reply = self._connection.call(queue.popleft())
        cpu_ns = time.process_time_ns() - cpu_begun_ns
        return self._note(reply, begun_ns, queued_ns, cpu_ns, clock())

    def close(self) -> None:
        self._connection.close()


class _AwaitingNoting(_Noting[AsyncConnection]):
    """A request has been handed over when its call first waits."""

    async def call(self, request: Request) -> Noted:
        clock = self._clock
        begun_ns = clock()
        cpu_begun_ns = time.process_time_ns()
        call = UntilItWaits(self._connection.call(request), clock)
        reply = await call
        cpu_ns = time.process_time_ns() - cpu_begun_ns
        return self._note(reply, begun_ns, call.waited_ns, cpu_ns, clock())

    async def close(self) -> None:
        await self._connection.close()


class UntilItWaits:
    """Awaits the same, and notes in `waited_ns` when it first waited for anything, or was over without waiting."""

    def __init__(self, awaited: Awaitable[Any], clock: Clock) -> None:
        self._awaited = awaited
        self._clock = clock
        self.waited_ns = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        inner: Any = self._awaited.__await__()
        step = partial(inner.send, None)
        while True:
            try:
                waits_for = step()
            except StopIteration as ended:
                self.waited_ns = self.waited_ns or self._clock()
                return ended.value
            self.waited_ns = self.waited_ns or self._clock()
            try:
                sent = yield waits_for
            except BaseException as thrown:  # noqa: BLE001 - whatever it is, it is the call's to handle
                step = partial(inner.throw, thrown)
            else:
                step = partial(inner.send, sent)


class BlockingNotes:
    """A `Dialer` whose connections note what the rules need; `clock` is that of the load loop."""

    def __init__(self, dialer: Dialer, batches: Batches, clock: Clock) -> None:
        self._dialer, self._batches, self._clock = dialer, batches, clock

    def dial(self) -> Connection:
        """See `Dialer.dial`."""
        begun_ns = self._clock()
        connection = self._dialer.dial()
        return _BlockingNoting(connection, self._clock() - begun_ns, self._batches, self._clock)


class AwaitingNotes:
    """An `AsyncDialer` whose connections note what the rules need; `clock` is that of the load loop."""

    def __init__(self, dialer: AsyncDialer, batches: Batches, clock: Clock) -> None:
        self._dialer, self._batches, self._clock = dialer, batches, clock

    async def dial(self) -> AsyncConnection:
        """See `Dialer.dial`."""
        begun_ns = self._clock()
        connection = await self._dialer.dial()
        return _AwaitingNoting(connection, self._clock() - begun_ns, self._batches, self._clock)
