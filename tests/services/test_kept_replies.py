"""What a client's `call` returns waits to be verified with several in flight: no body stands in it beside its fields."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Payload, Target, Trial
from services.python.contract.offers import protocols
from services.python.load.unverified import holds_large_buffer
from services.python.trial.parts import Parts, load_parts
from tests.support import wire
from tests.support.ends import responder


def _reply(parts: Parts, request: Any) -> Any:
    dialer = parts.dialer("echo", request)
    if parts.client.style == "sync":
        connection = dialer.dial()
        try:
            return connection.call(request)
        finally:
            connection.close()

    async def ask() -> Any:
        connection = await dialer.dial()
        try:
            return await connection.call(request)
        finally:
            await connection.close()

    return asyncio.get_event_loop().run_until_complete(ask())


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [protocol.name for protocol in wire.CALLING])
def test_a_reply_of_records_holds_no_large_buffer(tmp_path: Path, protocol: str) -> None:
    with responder(protocol) as (_, ready):
        for client in (client for client in protocols()[protocol].clients if client.kind == "call"):
            trial = Trial(
                target=Target(host="127.0.0.1", port=ready["port"], identity="nonce"),
                protocol=protocol,
                client=client.name,
                operation="echo",
                payload=Payload(kind="records", count=100),
                load=Load(requests=1),
                record=str(tmp_path / "record"),
            )
            parts = load_parts(trial)
            request = parts.make(1, time.time_ns)
            assert not holds_large_buffer(request)
            assert not holds_large_buffer(_reply(parts, request)), client.name
