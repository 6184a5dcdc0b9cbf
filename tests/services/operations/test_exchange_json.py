"""A request and a reply of a person's own, over the codecs that have a schema and those that have none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment.plan.payloads import joined
from services.python.codecs.alone import exchanges
from services.python.contract.lines import Payload
from services.python.operations import OPERATIONS, PayloadError

SMALL, ORDER = {"id": 4711}, {"id": 4711, "customer": "Ada", "items": [{"sku": "A-1", "price": 19.9}], "paid": True}
EXCHANGE = OPERATIONS["exchange_json"]


@pytest.fixture
def payload(tmp_path: Path) -> Payload:
    path = tmp_path / "small-order.json"
    path.write_bytes(joined(json.dumps(SMALL).encode(), json.dumps(ORDER).encode()))
    return Payload(kind="documents", path=str(path))


def answered(payload: Payload) -> tuple[Any, Any]:
    request = EXCHANGE.requests(payload, 1)(1, lambda: 0)
    with EXCHANGE.open({"documents": str(payload.path)}) as held:
        return request, EXCHANGE.answer(request, lambda: 0, held)


def test_the_reply_is_the_other_document_and_no_other_one_is_right(payload: Payload) -> None:
    request, reply = answered(payload)
    assert (request, reply) == ({"document": SMALL}, {"document": ORDER})
    assert EXCHANGE.verify(request, reply) is None
    assert EXCHANGE.verify(request, request) is not None


def test_a_codec_alone_codes_both_documents(payload: Payload) -> None:
    made = exchanges(EXCHANGE, EXCHANGE.requests(payload, 1))(1, lambda: 0)
    assert made == {"request": {"document": SMALL}, "reply": {"document": ORDER}}


@pytest.mark.parametrize("content", ["[]", "{", '{"request": 1}'])
def test_a_file_without_both_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(PayloadError, match="does not hold a request and a reply"):
        EXCHANGE.requests(Payload(kind="documents", path=str(path)), 1)
