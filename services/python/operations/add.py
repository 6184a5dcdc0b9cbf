"""`add`: two 32-bit integers in, their sum out."""

from __future__ import annotations

import random
from typing import Any

from services.python.contract.lines import Payload
from services.python.operations.base import Make, Operation, Reply, Request, WallClockNs, expect_kind, shorten

_PREPARED = 1024
_LARGEST = 2**30 - 1  # so that the sum is a 32-bit integer as well


def _requests(payload: Payload, seed: int) -> Make:
    expect_kind("add", payload, "none")
    source = random.Random(seed)  # noqa: S311 - a load, not a secret
    pairs = [
        {"a": source.randint(-_LARGEST, _LARGEST), "b": source.randint(-_LARGEST, _LARGEST)} for _ in range(_PREPARED)
    ]
    return lambda sequence, _wall_clock_ns: pairs[sequence % _PREPARED]


def _answer(request: Request, wall_clock_ns: WallClockNs) -> dict[str, Any]:  # noqa: ARG001 - no clock needed
    return {"sum": request["a"] + request["b"]}


def _verify(request: Request, reply: Reply) -> str | None:
    wanted, got = request["a"] + request["b"], reply.get("sum")
    if type(got) is not int or got != wanted:
        return f"{request['a']} + {request['b']} came back as {shorten(got)}, not {wanted}"
    return None


OPERATION = Operation(name="add", requests=_requests, answer=_answer, verify=_verify)
