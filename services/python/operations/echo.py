"""`echo`: bytes, structured records, or the user's own JSON document, sent back as they came."""

from __future__ import annotations

import json
import random
from typing import Any

from services.python.contract.lines import Payload
from services.python.operations.base import (
    Make,
    Operation,
    PayloadError,
    Reply,
    Request,
    WallClockNs,
    expect_kind,
    shorten,
)
from services.python.operations.files import read_checked

_WORDS = (
    "amber",
    "basalt",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "granite",
    "harbour",
    "indigo",
    "juniper",
    "kelp",
    "lagoon",
)
_FORMS = ("data", "records", "document")


def pseudo_random_bytes(size: int, seed: int) -> bytes:
    """The same incompressible bytes for the same seed, on every machine."""
    return random.Random(seed).randbytes(size)  # noqa: S311 - a load, not a secret


def records(count: int, seed: int) -> list[dict[str, Any]]:
    """Records such as services exchange: `{id: int, name: str, value: float, active: bool, tags: [str]}`."""
    source = random.Random(seed)  # noqa: S311 - a load, not a secret
    return [
        {
            "id": number,
            "name": f"{source.choice(_WORDS)} {source.choice(_WORDS)}",
            "value": round(source.uniform(-1000, 1000), 4),
            "active": source.random() < 0.5,
            "tags": source.sample(_WORDS, source.randint(0, 4)),
        }
        for number in range(1, count + 1)
    ]


def _requests(payload: Payload, seed: int) -> Make:
    expect_kind("echo", payload, "bytes", "records", "json")
    request: Request
    if payload.kind == "bytes":
        request = {"data": pseudo_random_bytes(payload.size, seed)}
    elif payload.kind == "records":
        request = {"records": records(payload.count, seed)}
    else:
        try:
            request = {"document": json.loads(read_checked("echo", payload))}
        except ValueError as error:
            raise PayloadError(f"{payload.path} is not JSON: {error}") from error
    return lambda _sequence, _wall_clock_ns: request


def _answer(request: Request, wall_clock_ns: WallClockNs) -> dict[str, Any]:  # noqa: ARG001 - no clock needed
    for form in _FORMS:
        if form in request:
            return {form: request[form]}
    raise ValueError(f"an echo carries one of {', '.join(_FORMS)}; this one carries {sorted(request)}")


def _verify(request: Request, reply: Reply) -> str | None:
    for form in _FORMS:
        if form in request:
            if reply.get(form) == request[form]:
                return None
            return f"{form} came back as {shorten(reply.get(form))}"
    raise ValueError(f"an echo carries one of {', '.join(_FORMS)}")


OPERATION = Operation(name="echo", requests=_requests, answer=_answer, verify=_verify)
