"""`exchange`: n bytes in, m bytes out, the bare transfer of a cell's bodies. Only the floor (`tcp`) carries it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from services.harness.contract import Payload
from services.operations.base import Make, Operation, Reply, Request, WallClockNs, expect_kind, shorten
from services.operations.echo import pseudo_random_bytes

_REPLY_SEED = 0


@lru_cache(maxsize=8)
def _reply(size: int) -> bytes:
    return pseudo_random_bytes(size, _REPLY_SEED)


def _requests(payload: Payload, seed: int) -> Make:
    expect_kind("exchange", payload, "exchange")
    request = {"data": pseudo_random_bytes(payload.size, seed), "reply_size": payload.reply_size}
    return lambda _sequence, _wall_clock_ns: request


def _answer(request: Request, wall_clock_ns: WallClockNs) -> dict[str, Any]:  # noqa: ARG001 - no clock needed
    return {"data": _reply(request["reply_size"])}


def _verify(request: Request, reply: Reply) -> str | None:
    data = reply.get("data")
    if not isinstance(data, bytes) or data != _reply(request["reply_size"]):
        return f"asked for {request['reply_size']} known bytes, was sent {shorten(data)}"
    return None


OPERATION = Operation(name="exchange", requests=_requests, answer=_answer, verify=_verify)
