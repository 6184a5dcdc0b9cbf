"""Operations that carry bodies: their sizes, and what came back is what was sent."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from services.python.codecs import alone
from services.python.contract.generator import stream
from services.python.contract.limits import MAX_PAYLOAD_BYTES
from services.python.contract.lines import Payload
from services.python.operations import OPERATIONS
from services.python.operations.picture import LARGEST, SMALLEST, picture

EXCHANGE = OPERATIONS["exchange"]


def test_only_the_second_request_opens_the_window_and_its_reply_is_as_much_larger():
    make = EXCHANGE.requests(Payload(kind="exchange", size=100, reply_size=30, opening=8), 1)
    requests = [make(sequence, lambda: 0) for sequence in range(1, 6)]
    assert [len(request["data"]) for request in requests] == [100, 800, 100, 100, 100]
    replies = [EXCHANGE.answer(request, lambda: 0) for request in requests]
    assert [len(reply["data"]) for reply in replies] == [30, 240, 30, 30, 30]
    assert not any(EXCHANGE.verify(*pair) for pair in zip(requests, replies, strict=True))


def test_a_floor_whose_window_opens_by_nothing_is_refused():
    with pytest.raises(ValueError, match="opening"):
        EXCHANGE.requests(Payload(kind="exchange", size=1, reply_size=1, opening=0), 1)


@given(size=st.integers(SMALLEST, 200_000))
def test_every_size_gives_a_picture_of_that_size_that_pillow_decodes(size: int):
    content = picture(size)
    assert len(content) == size
    with Image.open(io.BytesIO(content)) as opened:
        opened.load()
        assert opened.format == "PNG"
        assert opened.mode == "RGB"


@pytest.mark.parametrize("size", [0, -1, SMALLEST - 1, LARGEST + 1])
def test_a_size_that_cannot_be_is_refused(size: int):
    with pytest.raises(ValueError, match="was asked for"):
        picture(size)


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


ECHO = OPERATIONS["echo"]
DOCUMENT = {"int": 1, "float": 2.0, "yes": True, "no": False, "nothing": None, "list": [0, [1], {"in": 1}], "text": "1"}
WRONG_DOCUMENTS: list[tuple[str, Any]] = [
    ("int", True),
    ("yes", 1),
    ("yes", 1.0),
    ("no", 0),
    ("nothing", False),
    ("list", [False, [1], {"in": 1}]),
    ("list", [0, [True], {"in": 1}]),
    ("list", [0, [1], {"in": True}]),
    ("text", 1),
    ("int", 2.0),
]


def refused(form: str, sent: Any, came: Any) -> bool:
    """By an echo's verification and by that of a codec alone, which agree."""
    of_echo = ECHO.verify({form: sent}, {form: came})
    exchange = {"request": {form: sent}, "reply": {form: sent}}
    of_codec = [alone.verify(exchange, {**exchange, part: {form: came}}) for part in exchange]
    assert {reason is None for reason in of_codec} == {of_echo is None}
    return of_echo is not None


@pytest.mark.parametrize(("key", "came"), WRONG_DOCUMENTS)
def test_in_a_document_a_boolean_is_no_number(key: str, came: Any):
    assert refused("document", DOCUMENT, {**DOCUMENT, key: came})


def test_in_a_document_a_whole_number_may_come_as_a_float():
    came = {**DOCUMENT, "int": 1.0, "float": 2, "list": [0.0, [1.0], {"in": 1.0}]}
    assert not refused("document", DOCUMENT, came)
    assert not refused("document", DOCUMENT, dict(reversed(came.items())))


def test_a_deep_document_is_looked_at_to_its_end():
    depth = 400

    def nested(value: Any) -> Any:
        for _ in range(depth):
            value = [value]
        return [1, value]

    assert not refused("document", nested(1), [1.0, nested(1)[1]])
    assert refused("document", nested(1), nested(True))


@pytest.mark.parametrize("came", [3.0, True, "3"])
def test_a_codec_alone_gives_numbers_as_they_were(came: Any):
    exchange = {"request": {"a": 1, "b": 2}, "reply": {"sum": 3}}
    assert alone.verify(exchange, exchange) is None
    assert "decoded as" in str(alone.verify(exchange, {**exchange, "reply": {"sum": came}}))
    assert "decoded as" in str(alone.verify(exchange, {**exchange, "reply": {"sum": 3, "more": 1}}))
