"""The load of a stream: so many clients on uvloop, each with a connection and a subscription of its own.

A subscription is made, read to its end, and looked at when all of its phase are over. The stamp of an event is taken when
its client has it decoded; nothing but keeping it stands before the next one is awaited. A subscription that is not over in
time (its events' schedule, or that of its reading where it reads slowly, and the time-out after it) has failed with
`timeout`; what did not come by then never came.

A slow reader asks its client for event n of those that come no sooner than n - 1 intervals of its rate after the first
came: what comes meanwhile waits wherever the stack lets it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from services.python.contract.streams import lasts_ns
from services.python.load.client import AsyncSubscriber, CallFailed, Reply, Request
from services.python.load.loop import NO_CONNECTION
from services.python.load.pacer import Pacer
from services.python.load.phases import NS
from services.python.load.stream_recorder import StreamRecorder, Subscription
from services.python.probes.clock import Clock

_PROGRESS_S = 1.0


def ask_event(
    loop: asyncio.AbstractEventLoop, timeout_s: float, dialer: Any, request: Request
) -> tuple[Reply, tuple[int, int]]:
    """A subscription to one event on a connection of its own: the event, and both messages' sizes. CallFailed otherwise."""
    return loop.run_until_complete(_ask_event(timeout_s, dialer, request))


async def _ask_event(timeout_s: float, dialer: Any, request: Request) -> tuple[Reply, tuple[int, int]]:
    connection = await dialer.dial()
    came = "no event came"
    try:
        async with asyncio.timeout(timeout_s):
            sent = await connection.subscribe(request)
            first = await connection.next_event()
            if first is None:
                raise CallFailed("wrong-reply", "the stream ended without an event")
            came = "the event came, and the stream did not end"
            if await connection.next_event() is not None:
                raise CallFailed("wrong-reply", "a second event came, and one was asked for")
            return first[0], (sent, first[1])
    except TimeoutError:
        raise CallFailed("timeout", f"{came} within {timeout_s:g} s") from None
    finally:
        await connection.close()


class _Client:
    """One client: its connection, and the connection's number."""

    def __init__(self) -> None:
        self.connection: AsyncSubscriber | None = None
        self.number = NO_CONNECTION


class AwaitingStreams:
    """Makes the phases of a trial. Runs `loop` only while one of its methods does.

    `timeout_s`: how long after its schedule a stream may end.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        dialer: Any,
        recorder: StreamRecorder,
        clock: Clock,
        *,
        clients: int,
        timeout_s: float,
        before_close: Callable[[], None],
    ) -> None:
        self._loop, self._dialer, self._recorder, self._clock = loop, dialer, recorder, clock
        self._timeout_s, self._before_close = timeout_s, before_close
        self._clients = [_Client() for _ in range(clients)]

    def open(self) -> None:
        """Open the connection of every client that has none; CallFailed when that fails."""
        self._loop.run_until_complete(self._dial_all())

    def run(self, request: Request, first_sequence: int, *, reading_ns: int = 0) -> list[Subscription]:
        """One subscription of each client, all begun at once and read to their ends, `reading_ns` an event. TooMany."""
        subscriptions = [
            Subscription(sequence=first_sequence + place, request=request, most=request["count"])
            for place in range(len(self._clients))
        ]
        self._loop.run_until_complete(self._run(subscriptions, reading_ns))
        return subscriptions

    def wait(self, seconds: float) -> None:
        self._loop.run_until_complete(asyncio.sleep(seconds))

    def wait_for(self, hear: Callable[[], str]) -> str:
        return self._loop.run_until_complete(self._loop.run_in_executor(None, hear))

    def close(self) -> None:
        self._loop.run_until_complete(self._drop_all())

    async def _run(self, subscriptions: Sequence[Subscription], reading_ns: int) -> None:
        with ExitStack() as stack:
            pacer = stack.enter_context(Pacer(self._loop, self._clock.monotonic_ns)) if reading_ns else None
            telling = asyncio.create_task(self._tell(subscriptions))
            tasks = [
                asyncio.create_task(self._read(client, subscription, reading_ns, pacer))
                for client, subscription in zip(self._clients, subscriptions, strict=True)
            ]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in (telling, *tasks):
                    task.cancel()
                await asyncio.gather(telling, *tasks, return_exceptions=True)

    async def _read(self, client: _Client, subscription: Subscription, reading_ns: int, pacer: Pacer | None) -> None:
        clock, received, request = self._clock.monotonic_ns, self._recorder.received, subscription.request
        connection = client.connection
        assert connection is not None  # noqa: S101 - `open` came before
        next_event = connection.next_event
        subscription.connection = client.number
        limit_s = lasts_ns(request["count"], request["interval_ns"], reading_ns) / NS + self._timeout_s
        subscription.sent_ns = clock()
        try:
            async with asyncio.timeout(limit_s):
                subscription.bytes_sent = await connection.subscribe(request)
                if pacer is None:
                    while (event := await next_event()) is not None:
                        received(subscription, clock(), event)
                else:
                    first_ns = 0
                    while (event := await next_event()) is not None:
                        received(subscription, received_ns := clock(), event)
                        first_ns = first_ns or received_ns
                        await pacer.until(first_ns + subscription.came * reading_ns)
        except CallFailed as failure:
            subscription.failure = failure
        except TimeoutError:
            missing = max(0, subscription.most - subscription.came)
            subscription.failure = CallFailed(
                "timeout", f"{missing:,} events had not come {limit_s:g} s after the request"
            )
        subscription.ended_ns = clock()
        if subscription.failure is not None:
            await self._drop(client)

    async def _tell(self, subscriptions: Sequence[Subscription]) -> None:
        """A progress line every second, whether or not anything comes."""
        while True:
            await asyncio.sleep(_PROGRESS_S)
            came = sum(subscription.came for subscription in subscriptions)
            self._recorder.report_progress(came, self._clock.monotonic_ns())

    async def _dial_all(self) -> None:
        for client in self._clients:
            if client.connection is None:
                client.connection = await self._dialer.dial()
                client.number = self._recorder.connected()

    async def _drop_all(self) -> None:
        for client in self._clients:
            await self._drop(client)

    async def _drop(self, client: _Client) -> None:
        if client.connection is not None:
            self._before_close()
            await client.connection.close()
        client.connection, client.number = None, NO_CONNECTION
