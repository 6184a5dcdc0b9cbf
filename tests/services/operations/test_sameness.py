"""What came back is what was sent, types included: 1, 1.0 and True are equal in Python and no more."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.python.codecs import alone
from services.python.contract.lines import Payload
from services.python.operations import OPERATIONS
from services.python.operations.echo import records

ECHO = OPERATIONS["echo"]
RECORDS = [*records(3, 1), {"id": 1, "name": "one", "value": 1.0, "active": True, "tags": ["a"]}]
WRONG_RECORDS = {"id": (1.0, True), "value": (1, True), "active": (1, 1.0), "name": (None,), "tags": ([1],)}
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


def copied(value: Any) -> Any:
    return json.loads(json.dumps(value))


def test_what_came_as_it_was_sent_is_right():
    assert not refused("records", RECORDS, copied(RECORDS))
    assert not refused("records", [], [])
    assert not refused("document", DOCUMENT, copied(DOCUMENT))
    assert not refused("data", b"abc", memoryview(b"abc"))


@pytest.mark.parametrize(("field", "came"), [(name, value) for name, wrong in WRONG_RECORDS.items() for value in wrong])
def test_a_record_comes_back_with_its_types(field: str, came: Any):
    assert refused("records", RECORDS, [*RECORDS[:-1], {**RECORDS[-1], field: came}])


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


def test_generated_records_are_told_from_their_whole_valued_kin():
    request = ECHO.requests(Payload(kind="records", count=5), 1)(1, lambda: 0)
    came = copied(request["records"])
    came[0]["id"] = 1.0
    assert ECHO.verify(request, {"records": came}) is not None
