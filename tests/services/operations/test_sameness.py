"""What came back is what was sent, types included: 1, 1.0 and True are equal in Python and no more."""

from __future__ import annotations

from typing import Any

import pytest

from services.python.codecs import alone
from services.python.operations import OPERATIONS

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
