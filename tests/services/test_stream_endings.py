"""Subscriptions that are refused and clients that leave, by every protocol that carries streams: an error in clear words, an
end of that stream, and of no other."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from services.python.contract.offers import find_protocol, protocols
from services.python.load.client import AsyncSubscriber, CallFailed
from tests.support import wire
from tests.support.ends import responder
from tests.support.matrix import others_slow

pytestmark = pytest.mark.busy

SENDERS = [(p.name, r.name) for p in protocols().values() if p.streams != "no" for r in p.responders]
ROWS = {"interval_ns": 1_000_000, "count": 1_000_000, "after": 99_990}


@pytest.mark.parametrize(("protocol", "implementation"), others_slow(SENDERS, lambda *end: end == ("sse", "uvicorn")))
def test_a_table_that_is_gone_amidst_ends_the_stream_with_an_error_that_names_it_and_the_responder_goes_on(
    protocol: str, implementation: str, tmp_path: Path
) -> None:
    path, came = tmp_path / "store.sqlite3", list[int]()

    async def read(connection: AsyncSubscriber) -> None:
        while (event := await connection.next_event()) is not None:
            if not came:
                with closing(sqlite3.connect(path)) as other:
                    other.execute("DROP TABLE transactions")
            came.append(event[0]["transaction"])

    client = next(client.name for client in find_protocol(protocol).clients if "stream" not in client.refuses)

    kept = {"store": "sqlite", "database": str(path)}
    started = responder(protocol, implementation=implementation, operations=["activity"], resources=kept)
    with started as (_, ready):
        with pytest.raises(CallFailed, match="no such table: transactions") as failed:
            wire.subscribing(protocol, client, ready["port"], "activity", ROWS, read)
        assert failed.value.status == "protocol"
        assert came[:11] == [*range(99_991, 100_001), 1][: len(came)]
        assert len(came) % 100 == 10  # those of the pages that had been read by then
        with pytest.raises(CallFailed, match="after must be from 0 to 99,999"):
            wire.subscribing(protocol, client, ready["port"], "activity", {**ROWS, "after": 100_000}, read)
