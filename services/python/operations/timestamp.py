"""`timestamp`: a fresh stamp in, that stamp and the responder's own out. A small request that is never the same twice."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from services.python.contract.lines import Payload
from services.python.contract.messages import TIMESTAMP
from services.python.operations.base import Make, Operation, Reply, Request, WallClockNs, expect_kind, shorten

_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")


def iso_stamp(wall_ns: int) -> str:
    """ISO 8601 in UTC with all six digits of the microseconds, so that every stamp has the same length.

    >>> iso_stamp(1_700_000_000_000_001_999)
    '2023-11-14T22:13:20.000001+00:00'
    """
    second, rest_ns = divmod(wall_ns, 1_000_000_000)
    return f"{_until_the_second(second)}.{rest_ns // 1000:06d}+00:00"


@lru_cache(maxsize=2)  # a stamp stands in every request and reply; most are of the same second as the one before
def _until_the_second(unix_s: int) -> str:
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _requests(payload: Payload, seed: int) -> Make:  # noqa: ARG001 - the clock is the only source
    expect_kind("timestamp", payload, "none")
    return lambda _sequence, wall_clock_ns: {"request_timestamp": iso_stamp(wall_clock_ns())}


def _answer(request: Request, wall_clock_ns: WallClockNs) -> dict[str, Any]:
    return {"request_timestamp": request["request_timestamp"], "response_timestamp": iso_stamp(wall_clock_ns())}


def _verify(request: Request, reply: Reply) -> str | None:
    if reply.get("request_timestamp") != request["request_timestamp"]:
        return f"request_timestamp came back as {shorten(reply.get('request_timestamp'))}"
    response = reply.get("response_timestamp")
    if not isinstance(response, str) or not _STAMP.fullmatch(response):
        return f"response_timestamp is {shorten(response)}, not ISO 8601 in UTC with microseconds"
    return None


OPERATION = Operation(name="timestamp", message=TIMESTAMP, requests=_requests, answer=_answer, verify=_verify)
