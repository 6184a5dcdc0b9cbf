"""`exchange`: n bytes in, m bytes out, the bare transfer of a cell's bodies. Only the floor (`tcp`) carries it.

The second request of a trial may be several times as large (`Payload.opening`): it belongs to the warm-up, and leaves the
connection with a congestion window, a receive window and an estimated bandwidth that the others do not fill.
"""

from __future__ import annotations

from typing import Any

from services.python.contract.generator import stream
from services.python.contract.lines import Payload
from services.python.contract.messages import EXCHANGE
from services.python.operations.base import Make, Operation, Request, WallClockNs, expect_kind
from services.python.operations.transfer import returned, verify

_OPENS = 2  # this sequence number: the first request, which is also the check's, keeps its size


def _requests(payload: Payload, seed: int) -> Make:
    expect_kind("exchange", payload, "exchange")
    if payload.opening < 1:
        raise ValueError(f"payload: an `opening` of at least 1, not {payload.opening}")

    def request(times: int) -> Request:
        return {"data": stream(f"bytes/{seed}", payload.size * times), "reply_size": payload.reply_size * times}

    usual, opening = request(1), request(payload.opening)
    return lambda sequence, _wall_clock_ns: opening if sequence == _OPENS else usual


def _answer(request: Request, wall_clock_ns: WallClockNs) -> dict[str, Any]:  # noqa: ARG001 - no clock needed
    return {"data": returned(request["reply_size"])}


OPERATION = Operation(
    name="exchange", message=EXCHANGE, payloads=("exchange",), requests=_requests, answer=_answer, verify=verify
)
