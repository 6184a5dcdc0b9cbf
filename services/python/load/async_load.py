"""Load loops for clients that are awaited: one task per request in flight, on uvloop."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Awaitable, Callable, Sequence

from services.python.load.client import AsyncConnection, AsyncDialer, CallFailed, Reply, Request
from services.python.load.loop import BREAKING, NO_CONNECTION, Lane, Work, cancel_rest, count_pauses, refuse
from services.python.load.pacer import Pacer
from services.python.load.phases import NS, Phase, Rests

_LAG_EVERY_NS = 20_000_000

Wait = Callable[[], Awaitable[int]]
"""When the request is due that is next in an open loop, once it is; 0 when there is none any more."""

Take = Callable[[int], int]  # the next request's sequence number at a time, or 0: the phase is over


class _Resting:
    """How one worker rests between its requests. Each method returns when the rest was to end, once it is over."""

    def __init__(self, rests: Rests, worker: int, phase: Phase, pacer: Pacer) -> None:
        self._rests, self._worker, self._phase, self._pacer = rests, worker, phase, pacer

    async def first(self) -> int:
        return await self._until(self._phase.begin_ns + self._rests.first_ns(self._worker))

    async def after(self, sequence: int, now_ns: int) -> int:
        """After the request of that number, which the worker was done with at `now_ns`."""
        due_ns = now_ns + self._rests.after_ns(sequence - self._phase.first_sequence)
        return due_ns if self._phase.is_over(now_ns) else await self._until(due_ns)

    async def _until(self, due_ns: int) -> int:
        await self._pacer.until(min(due_ns, self._phase.ends_ns))
        return due_ns

    def end(self) -> None:
        self._pacer.release()


def ask(loop: asyncio.AbstractEventLoop, dialer: AsyncDialer, request: Request) -> tuple[Reply, tuple[int, int]]:
    """One request on a connection of its own: the reply's value, and both bodies' sizes. CallFailed otherwise."""
    return loop.run_until_complete(_ask(dialer, request))


async def _ask(dialer: AsyncDialer, request: Request) -> tuple[Reply, tuple[int, int]]:
    connection = await dialer.dial()
    try:
        reply = await connection.call(request)
        return connection.value(reply), connection.sizes(request, reply)
    finally:
        await connection.close()


class AwaitingLoops:
    """See `loop.Loops`. Runs `loop` only while one of its methods does."""

    def __init__(self, loop: asyncio.AbstractEventLoop, dialer: AsyncDialer, work: Work) -> None:
        self._loop = loop
        self._dialer = dialer
        self._work = work
        self._lanes = [Lane[AsyncConnection]() for _ in range(work.concurrency)]
        self._worst_lag_ns = 0

    @property
    def lag_ms(self) -> float | None:
        return self._worst_lag_ns / 1e6

    def open(self) -> None:
        if self._work.policy == "reuse":
            self._loop.run_until_complete(self._dial_all())

    def closed_loop(self, phase: Phase, rests: Rests | None = None) -> None:
        load = self._workers(None, phase.take) if rests is None else self._resting(phase, rests)
        self._loop.run_until_complete(self._watched(load))
        count_pauses(self._work, self._lanes, is_closed_loop=True)

    def open_loop(self, phase: Phase, due: array[int], close_ns: int | None) -> None:
        """See `loop.Loops.open_loop`. A worker that is free takes the longest due request."""
        self._loop.run_until_complete(self._watched(self._open_loop(phase, due, close_ns)))

    def wait(self, seconds: float) -> None:
        self._loop.run_until_complete(asyncio.sleep(seconds))

    def wait_for(self, hear: Callable[[], str]) -> str:
        return self._loop.run_until_complete(self._loop.run_in_executor(None, hear))

    def close(self, grace_s: float = 0) -> None:
        self._loop.run_until_complete(self._drop_all(grace_s))

    async def _open_loop(self, phase: Phase, due: array[int], close_ns: int | None) -> None:
        work = self._work
        clock = work.clock.monotonic_ns
        queue: asyncio.Queue[int] = asyncio.Queue()
        pacer = Pacer(asyncio.get_running_loop(), clock)

        def take(now_ns: int) -> int:
            # Requests leave the queue in the order in which they were put, so the number is that of the one waited for.
            return 0 if close_ns is not None and now_ns >= close_ns else phase.take(now_ns)

        async def call_when_due() -> None:
            for offset_ns in due:
                due_ns = phase.begin_ns + offset_ns
                await pacer.until(due_ns)
                queue.put_nowait(due_ns)
            for _ in self._lanes:
                queue.put_nowait(0)

        with pacer:
            calling = asyncio.create_task(call_when_due())
            try:
                await self._workers(queue.get, take)
            finally:
                calling.cancel()
        count_pauses(work, self._lanes, is_closed_loop=False)
        cancel_rest(work, phase, due, clock())

    async def _resting(self, phase: Phase, rests: Rests) -> None:
        with Pacer(asyncio.get_running_loop(), self._work.clock.monotonic_ns) as pacer:
            resting = [_Resting(rests, number, phase, pacer) for number in range(len(self._lanes))]
            await self._workers(None, phase.take, resting)

    async def _workers(self, wait: Wait | None, take: Take, resting: Sequence[_Resting] = ()) -> None:
        worker = self._reuse if self._work.policy == "reuse" else self._per_request
        each: Sequence[_Resting | None] = resting or [None] * len(self._lanes)
        tasks = [
            asyncio.create_task(worker(lane, wait, take, rests)) for lane, rests in zip(self._lanes, each, strict=True)
        ]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _reuse(
        self, lane: Lane[AsyncConnection], wait: Wait | None, take: Take, resting: _Resting | None
    ) -> None:
        work, clock, wall, make = self._work, self._work.clock.monotonic_ns, self._work.clock.wall_ns, self._work.make
        replied, failed = work.recorder.replied, work.recorder.failed
        # Local names, as they are quicker than attributes: this runs while the requests of other workers are in flight.
        pause_ns = paused_ns = 0
        due_ns = 0 if resting is None else await resting.first()
        now_ns = clock()
        try:
            while True:
                if wait is not None:
                    due_ns = await wait()
                    if not due_ns:
                        return
                    now_ns = clock()
                sequence = take(now_ns)
                if not sequence:
                    if resting is not None:
                        resting.end()
                    return
                paused_ns += pause_ns
                request = make(sequence, wall)
                sent_ns = 0
                try:
                    connection = lane.connection or await self._dial(lane)
                    sent_ns = clock()
                    reply = await connection.call(request)
                    received_ns = clock()
                except CallFailed as failure:
                    received_ns = clock()
                    sent_ns = sent_ns or received_ns  # not even sent, as there was no connection
                    number = lane.number
                    if failure.status in BREAKING or getattr(lane.connection, "is_over", False):
                        await self._drop(lane)
                        lane.dropping_ns += clock() - received_ns
                    failed(sequence, number, due_ns or sent_ns, sent_ns, received_ns, failure)
                else:
                    replied(sequence, lane.number, due_ns or sent_ns, sent_ns, received_ns, connection, request, reply)
                    reply = None  # freed here, and not when the next one takes its place: within that one's window
                    if getattr(connection, "is_over", False):
                        begun_ns = clock()
                        await self._drop(lane)
                        lane.dropping_ns += clock() - begun_ns
                now_ns = clock()
                pause_ns = now_ns - received_ns
                if resting is not None:
                    due_ns = await resting.after(sequence, now_ns)
                    now_ns = clock()
        finally:
            lane.pause_ns, lane.paused_ns = pause_ns, paused_ns

    async def _per_request(
        self, lane: Lane[AsyncConnection], wait: Wait | None, take: Take, resting: _Resting | None
    ) -> None:
        work, dial = self._work, self._dialer.dial
        clock, wall, make, recorder = work.clock.monotonic_ns, work.clock.wall_ns, work.make, work.recorder
        due_ns = 0 if resting is None else await resting.first()
        while True:
            if wait is not None:
                due_ns = await wait()
                if not due_ns:
                    return
            sequence = take(clock())
            if not sequence:
                if resting is not None:
                    resting.end()
                return
            lane.paused_ns += lane.pause_ns
            request = make(sequence, wall)
            connection: AsyncConnection | None = None
            sent_ns = clock()
            try:
                connection = await dial()
                reply = await connection.call(request)
                received_ns = clock()
            except CallFailed as failure:
                received_ns = clock()
                number = recorder.connected() if connection else NO_CONNECTION
                recorder.failed(sequence, number, due_ns or sent_ns, sent_ns, received_ns, failure)
            else:
                number = recorder.connected()
                recorder.replied(sequence, number, due_ns or sent_ns, sent_ns, received_ns, connection, request, reply)
                reply = None  # as in `_reuse`
                lane.entering_ns += clock() - received_ns
            finally:
                if connection is not None:
                    work.before_close()
                    await connection.close()
            now_ns = clock()
            lane.pause_ns = now_ns - received_ns
            if resting is not None:
                due_ns = await resting.after(sequence, now_ns)

    async def _watched(self, load: Awaitable[None]) -> None:
        """Run a load and note how late the event loop comes to its timers meanwhile."""
        clock = self._work.clock.monotonic_ns
        self._worst_lag_ns = 0

        async def look() -> None:
            while True:
                planned_ns = clock() + _LAG_EVERY_NS
                await asyncio.sleep(_LAG_EVERY_NS / NS)
                self._worst_lag_ns = max(self._worst_lag_ns, clock() - planned_ns)

        looking = asyncio.create_task(look())
        try:
            await load
        finally:
            looking.cancel()

    async def _dial_all(self) -> None:
        for lane in self._lanes:
            await self._dial(lane)

    async def _drop_all(self, grace_s: float) -> None:
        looks = [look for lane in self._lanes if (look := getattr(lane.connection, "has_unasked", None))]
        if looks:
            await asyncio.sleep(grace_s)
        found = [await look() for look in looks]
        for lane in self._lanes:
            await self._drop(lane)
        refuse(found)

    async def _dial(self, lane: Lane[AsyncConnection]) -> AsyncConnection:
        lane.connection = await self._dialer.dial()
        lane.number = self._work.recorder.connected(getattr(lane.connection, "shared", None))
        return lane.connection

    async def _drop(self, lane: Lane[AsyncConnection]) -> None:
        if lane.connection is not None:
            self._work.before_close()
            await lane.connection.close()
        lane.connection, lane.number = None, NO_CONNECTION
