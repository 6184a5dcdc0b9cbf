"""`transfer`: n known bytes in, m known bytes out, each size chosen apart: an upload, a download, or both.

Both ends compute both bodies alike (`protos/payloads.md`), whatever the seed: the responder compares what it was sent and
answers nothing else, the requester compares the reply. So a right reply says that both bodies arrived whole. Comparing takes
some 20 µs for a megabyte, at both ends, behind every protocol.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from services.python.contract.generator import stream
from services.python.contract.limits import MAX_PAYLOAD_BYTES
from services.python.contract.lines import Payload
from services.python.contract.messages import TRANSFER
from services.python.operations import base

_KEPT = 4  # bodies of each way: a trial has one


@lru_cache(maxsize=_KEPT)
def _sent(size: int) -> bytes:
    return stream("request", size)


@lru_cache(maxsize=_KEPT)
def returned(size: int) -> bytes:
    """The known bytes of a reply."""
    return stream("reply", size)


def _requests(payload: Payload, seed: int) -> base.Make:  # noqa: ARG001 - both ends know the content without a seed
    base.expect_kind("transfer", payload, "transfer")
    for size in (payload.size, payload.reply_size):
        if size > MAX_PAYLOAD_BYTES:
            raise base.PayloadError(f"transfer: at most {MAX_PAYLOAD_BYTES:,} bytes each way, not {size:,}")
    request = {"data": _sent(payload.size), "reply_size": payload.reply_size}
    return lambda _sequence, _wall_clock_ns: request


def _answer(request: base.Request, wall_clock_ns: base.WallClockNs) -> dict[str, Any]:  # noqa: ARG001 - no clock needed
    data, size = request["data"], request["reply_size"]
    if type(size) is not int or not 0 <= size <= MAX_PAYLOAD_BYTES:
        raise ValueError(f"a reply of 0 to {MAX_PAYLOAD_BYTES:,} bytes can be asked for, not of {base.shorten(size)}")
    if not isinstance(data, bytes) or len(data) > MAX_PAYLOAD_BYTES or data != _sent(len(data)):
        raise ValueError(f"not the bytes that a transfer sends (protos/payloads.md): {base.shorten(data)}")
    return {"data": returned(size)}


def verify(request: base.Request, reply: base.Reply) -> str | None:
    """Why a reply has not the known bytes; None where it has."""
    data = reply.get("data")
    if not isinstance(data, bytes) or data != returned(request["reply_size"]):
        return f"asked for {request['reply_size']} known bytes, was sent {base.shorten(data)}"
    return None


OPERATION = base.Operation(
    name="transfer", message=TRANSFER, payloads=("transfer",), requests=_requests, answer=_answer, verify=verify
)
