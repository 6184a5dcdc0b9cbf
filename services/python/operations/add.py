"""`add`: two 32-bit integers in, their sum out."""

from __future__ import annotations

from typing import Any

from services.python.contract.generator import words
from services.python.contract.lines import Payload
from services.python.contract.messages import ADD
from services.python.operations.base import Make, Operation, Reply, Request, WallClockNs, expect_kind, shorten

_PREPARED = 1024
_OFFSET = 2**30  # numbers from -2^30 to 2^30 - 1, so that the sum is a 32-bit integer as well


def _requests(payload: Payload, seed: int) -> Make:
    expect_kind("add", payload, "none")
    numbers = [(word >> 1) - _OFFSET for word in words(f"add/{seed}", 2 * _PREPARED)]
    pairs = [{"a": a, "b": b} for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
    return lambda sequence, _wall_clock_ns: pairs[sequence % _PREPARED]


def _answer(request: Request, wall_clock_ns: WallClockNs) -> dict[str, Any]:  # noqa: ARG001 - no clock needed
    return {"sum": request["a"] + request["b"]}


def _verify(request: Request, reply: Reply) -> str | None:
    wanted, got = request["a"] + request["b"], reply.get("sum")
    if type(got) is not int or got != wanted:
        return f"{request['a']} + {request['b']} came back as {shorten(got)}, not {wanted}"
    return None


OPERATION = Operation(name="add", message=ADD, requests=_requests, answer=_answer, verify=_verify)
