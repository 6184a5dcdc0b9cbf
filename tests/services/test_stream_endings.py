"""Subscriptions that are refused and clients that leave, by every protocol that carries streams: an error in clear words, an
end of that stream, and of no other."""

from __future__ import annotations

import asyncio
import importlib
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from services.python.contract.offers import find_protocol, protocols
from services.python.load.client import AsyncSubscriber, CallFailed, CallSpec
from tests.support import wire
from tests.support.ends import responder
from tests.support.matrix import others_slow

pytestmark = pytest.mark.busy

SENDERS = [(p.name, r.name) for p in protocols().values() if p.streams != "no" for r in p.responders]
PATIENCE_S = 30.0
LONG = {"interval_ns": 1_000_000, "count": 1_000_000, "size": 10, "seed": 1}
ROWS = {"interval_ns": 1_000_000, "count": 1_000_000, "after": 99_990}
Found = TypeVar("Found")


def with_connection(
    protocol: str, port: int, use: Callable[[AsyncSubscriber], Awaitable[Found]], operation: str = "events"
) -> Found:
    """What `use` makes of a connection of the protocol's first client that reads streams, closed behind it."""
    declared = next(client for client in find_protocol(protocol).clients if "stream" not in client.refuses)
    example = LONG if operation == "events" else ROWS
    call = CallSpec(
        host=wire.HOST, port=port, operation=operation, timeout_s=PATIENCE_S, example=example, kind="stream"
    )

    async def run() -> Found:
        connection = await importlib.import_module(declared.module).dialer(call, declared).dial()
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await use(connection)
        finally:
            await connection.close()

    return asyncio.run(run())


def is_light_of_rows(_protocol: str, implementation: str) -> bool:
    return implementation == "starlette"


@pytest.mark.parametrize(("protocol", "implementation"), others_slow(SENDERS, is_light_of_rows))
def test_a_table_that_is_gone_amidst_ends_the_stream_with_an_error_that_names_it_and_the_responder_goes_on(
    protocol: str, implementation: str, tmp_path: Path
) -> None:
    path, came = tmp_path / "store.sqlite3", list[int]()

    async def read(connection: AsyncSubscriber) -> None:
        await connection.subscribe(ROWS)
        while (event := await connection.next_event()) is not None:
            if not came:
                with closing(sqlite3.connect(path)) as other:
                    other.execute("DROP TABLE transactions")
            came.append(event[0]["transaction"])

    async def refused(connection: AsyncSubscriber) -> None:
        await connection.subscribe({**ROWS, "after": 100_000})
        await connection.next_event()

    kept = {"store": "sqlite", "database": str(path)}
    started = responder(protocol, implementation=implementation, operations=["activity"], resources=kept)
    with started as (_, ready):
        with pytest.raises(CallFailed, match="no such table: transactions") as failed:
            with_connection(protocol, ready["port"], read, "activity")
        assert failed.value.status == "protocol"
        assert came[:11] == [*range(99_991, 100_001), 1][: len(came)]
        assert len(came) % 100 == 10  # those of the pages that had been read by then
        with pytest.raises(CallFailed, match="after must be from 0 to 99,999"):
            with_connection(protocol, ready["port"], refused, "activity")
