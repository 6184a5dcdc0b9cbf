"""Subscriptions that are refused and clients that leave, by every protocol that carries streams: an error in clear words, an
end of that stream, and of no other."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from services.python.contract.offers import find_protocol, protocols
from services.python.load.client import AsyncSubscriber, CallFailed, CallSpec
from tests.support import wire
from tests.support.matrix import others_slow

pytestmark = pytest.mark.busy

SENDERS = [(p.name, r.name) for p in protocols().values() if p.streams != "no" for r in p.responders]
PATIENCE_S = 30.0
LONG = {"interval_ns": 1_000_000, "count": 1_000_000, "size": 10, "seed": 1}
Found = TypeVar("Found")


def with_connection(protocol: str, port: int, use: Callable[[AsyncSubscriber], Awaitable[Found]]) -> Found:
    """What `use` makes of a connection of the protocol's first client that reads streams, closed behind it."""
    declared = next(client for client in find_protocol(protocol).clients if "stream" not in client.refuses)
    call = CallSpec(host=wire.HOST, port=port, operation="events", timeout_s=PATIENCE_S, example=LONG, kind="stream")

    async def run() -> Found:
        connection = await importlib.import_module(declared.module).dialer(call, declared).dial()
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await use(connection)
        finally:
            await connection.close()

    return asyncio.run(run())


def is_light(protocol: str, _implementation: str) -> bool:
    return protocol in ("socketio", "graphqlws")


def numbers_of(**changes: Any) -> Callable[[AsyncSubscriber], Awaitable[list[int]]]:
    """All events of a subscription, by their numbers."""

    async def read(connection: AsyncSubscriber) -> list[int]:
        await connection.subscribe({**LONG, **changes})
        found = []
        while (event := await connection.next_event()) is not None:
            assert event[1] > 0
            found.append(event[0]["sequence"])
        return found

    return read


@pytest.mark.parametrize(("protocol", "implementation"), others_slow(SENDERS, is_light))
def test_a_refused_subscription_is_an_error_that_names_the_cause_and_a_client_that_leaves_ends_its_stream(
    protocol: str, implementation: str
) -> None:
    async def leave(connection: AsyncSubscriber) -> None:
        await connection.subscribe(LONG)
        assert await connection.next_event() is not None

    with wire.responding(protocol, implementation) as running:
        with pytest.raises(CallFailed, match="there must be one to") as refused:
            with_connection(protocol, running.port, numbers_of(count=0))
        assert refused.value.status == "protocol"
        with_connection(protocol, running.port, leave)
        until = time.monotonic() + PATIENCE_S
        while not (events := running.stats()["events"]):
            assert time.monotonic() < until, "its stream goes on"
            time.sleep(0.02)
        assert events["sent"] <= events["offered"] < LONG["count"]
        assert with_connection(protocol, running.port, numbers_of(count=3)) == [1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["socketio", "graphqlws"])
def test_a_responder_that_dies_ends_the_stream_as_closed(protocol: str) -> None:
    async def outlive(connection: AsyncSubscriber) -> None:
        await connection.subscribe(LONG)
        await connection.next_event()
        running.kill()
        while await connection.next_event() is not None:
            pass

    implementation = find_protocol(protocol).responders[0].name
    with wire.responding(protocol, implementation) as running, pytest.raises(CallFailed) as failed:
        with_connection(protocol, running.port, outlive)
    assert failed.value.status == "closed"
