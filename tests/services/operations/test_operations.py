"""What is asked, and what counts as a right reply."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.python.contract.lines import Payload
from services.python.operations import OPERATIONS, PayloadError
from services.python.operations.picture import picture
from services.python.operations.timestamp import iso_stamp

WALL_NS = 1_700_000_000_123_456_789


def clock() -> int:
    return WALL_NS


def ask(operation: str, payload: Payload, seed: int = 1, sequence: int = 1) -> tuple[Any, dict[str, Any]]:
    request = OPERATIONS[operation].requests(payload, seed)(sequence, clock)
    return request, OPERATIONS[operation].answer(request, clock)


def image_payload(tmp_path: Path, content: bytes, **changes: Any) -> Payload:
    path = tmp_path / "picture.png"
    path.write_bytes(content)
    return Payload(**{"kind": "image", "path": str(path), "sha256": hashlib.sha256(content).hexdigest(), **changes})


@pytest.mark.parametrize(
    ("operation", "payload"),
    [
        ("timestamp", Payload()),
        ("add", Payload()),
        ("echo", Payload(kind="bytes", size=1000)),
        ("echo", Payload(kind="bytes", size=0)),
        ("echo", Payload(kind="records", count=20)),
        ("exchange", Payload(kind="exchange", size=10, reply_size=3000)),
        ("transfer", Payload(kind="transfer", size=10, reply_size=3000)),
        ("transfer", Payload(kind="transfer", size=0, reply_size=0)),
    ],
)
def test_the_answer_to_a_request_is_a_right_reply_and_the_same_for_the_same_seed(operation: str, payload: Payload):
    request, reply = ask(operation, payload)
    assert OPERATIONS[operation].verify(request, reply) is None
    assert (request, reply) == ask(operation, payload)


@given(seed=st.integers(0, 2**40), sequence=st.integers(1, 10**9))
def test_numbers_and_sums_are_of_32_bits(seed: int, sequence: int):
    request, reply = ask("add", Payload(), seed, sequence)
    assert all(-(2**31) <= value < 2**31 for value in (request["a"], request["b"], reply["sum"]))


def test_records_have_the_fields_that_the_schemas_declare():
    request, _ = ask("echo", Payload(kind="records", count=50))
    assert len(request["records"]) == 50
    for record in request["records"]:
        assert [type(value) for value in record.values()] == [int, str, float, bool, list]
        assert list(record) == ["id", "name", "value", "active", "tags"]


@pytest.mark.parametrize(
    ("operation", "payload", "wrong", "reason"),
    [
        ("timestamp", Payload(), {"request_timestamp": "x", "response_timestamp": iso_stamp(0)}, "came back as 'x'"),
        ("timestamp", Payload(), {"request_timestamp": iso_stamp(WALL_NS)}, "response_timestamp is None"),
        ("add", Payload(), {"sum": 1}, "came back as 1, not"),
        ("add", Payload(), {"sum": "1"}, "came back as '1'"),
        ("add", Payload(), {}, "None"),
        ("echo", Payload(kind="bytes", size=9), {"data": b"other"}, "data came back as b'other'"),
        ("echo", Payload(kind="records", count=2), {"records": []}, r"records came back as \[\]"),
        ("exchange", Payload(kind="exchange", size=1, reply_size=4), {"data": b"1234"}, "asked for 4 known bytes"),
    ],
)
def test_a_wrong_reply_has_a_reason(operation: str, payload: Payload, wrong: dict[str, Any], reason: str):
    request, _ = ask(operation, payload)
    found = OPERATIONS[operation].verify(request, wrong)
    assert re.search(reason, found)


def test_a_wrong_size_of_an_image_has_a_reason(tmp_path: Path):
    request, _ = ask("image", image_payload(tmp_path, picture(1000)))
    assert OPERATIONS["image"].verify(request, {"width": 17, "height": 16}) == (
        "the picture of 17 x 17 came back as (17, 16)"
    )


@pytest.mark.parametrize(
    ("operation", "payload", "words"),
    [
        ("timestamp", Payload(kind="bytes", size=1), "timestamp carries a payload of kind none, not bytes"),
        ("echo", Payload(), "echo carries a payload of kind bytes or records or json, not none"),
        ("image", Payload(kind="image"), "needs a path"),
        ("image", Payload(kind="image", path="not/there.png"), "cannot read not/there.png"),
        ("exchange", Payload(kind="bytes"), "exchange"),
    ],
)
def test_a_payload_that_does_not_fit_is_refused(operation: str, payload: Payload, words: str):
    with pytest.raises(PayloadError, match=words):
        OPERATIONS[operation].requests(payload, 1)


def test_a_file_that_is_no_picture_is_refused(tmp_path: Path):
    with pytest.raises(PayloadError, match="not a picture that Pillow can open"):
        OPERATIONS["image"].requests(image_payload(tmp_path, b"no picture"), 1)


def test_a_file_that_is_no_json_is_refused(tmp_path: Path):
    (tmp_path / "document.json").write_text("{")
    with pytest.raises(PayloadError, match="is not JSON"):
        OPERATIONS["echo"].requests(Payload(kind="json", path=str(tmp_path / "document.json")), 1)


def test_a_request_that_cannot_be_answered_is_a_value_error():
    with pytest.raises(ValueError, match="not a picture"):
        OPERATIONS["image"].answer({"data": b"", "full_decode": False}, clock)
    with pytest.raises(ValueError, match="an echo carries one of"):
        OPERATIONS["echo"].answer({}, clock)
