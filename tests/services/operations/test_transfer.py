"""`transfer`: both bodies are known to both ends, and each has a size of its own."""

from __future__ import annotations

from typing import Any

import pytest

from services.python.contract.generator import stream
from services.python.contract.limits import MAX_PAYLOAD_BYTES
from services.python.contract.lines import Payload
from services.python.operations import OPERATIONS

TRANSFER = OPERATIONS["transfer"]


def asked(size: int, reply_size: int, seed: int = 1) -> dict[str, Any]:
    payload = Payload(kind="transfer", size=size, reply_size=reply_size)
    return dict(TRANSFER.requests(payload, seed)(1, lambda: 0))


@pytest.mark.parametrize(("size", "reply_size"), [(5, 3000), (3000, 5), (700, 700)])
def test_each_way_has_as_many_bytes_as_were_asked_for_whatever_the_seed(size: int, reply_size: int) -> None:
    request = asked(size, reply_size)
    assert request == asked(size, reply_size, seed=9)
    reply = TRANSFER.answer(request, lambda: 0)
    assert (len(request["data"]), len(reply["data"])) == (size, reply_size)
    assert (request["data"], reply["data"]) == (stream("request", size), stream("reply", reply_size))
    assert TRANSFER.verify(request, reply) is None


@pytest.mark.parametrize(
    "changes",
    [{"data": b"\0" * 1000}, {"data": stream("request", 999) + b"\0"}, {"data": "text"}, {"reply_size": -1}]
    + [{"reply_size": size} for size in (MAX_PAYLOAD_BYTES + 1, True, 1.0, "1")],
)
def test_a_request_that_did_not_arrive_whole_is_no_request(changes: dict[str, Any]) -> None:
    request = {**asked(1000, 10), **changes}
    with pytest.raises(ValueError, match="bytes"):
        TRANSFER.answer(request, lambda: 0)


@pytest.mark.parametrize("data", [b"", stream("reply", 9), stream("reply", 11), stream("request", 10), None, "text"])
def test_a_reply_of_other_bytes_is_wrong(data: Any) -> None:
    assert "asked for 10 known bytes" in (TRANSFER.verify(asked(5, 10), {"data": data}) or "")
