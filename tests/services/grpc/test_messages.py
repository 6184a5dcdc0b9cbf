"""What Protocol Buffers carry, and what they cannot."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.grpc.messages import METHODS, method_for, sizes
from services.harness.client_api import CallFailed

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def carried(document: Any) -> Any:
    """A document after it went to the responder and back."""
    echo = METHODS["echo"]
    request = echo.pack_request({"document": document})
    arrived = echo.unpack_request(type(request).FromString(request.SerializeToString()))
    reply = echo.pack_reply(arrived)
    return echo.unpack_reply(type(reply).FromString(reply.SerializeToString()))["document"]


@given(JSON)
def test_any_json_document_survives(document: Any) -> None:
    assert carried(document) == document


def test_an_integer_that_no_double_holds_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(CallFailed, match=r"beyond 2\^53") as failed:
        method_for("echo", {"document": {"id": 2**53 + 1}})
    assert failed.value.status == "protocol"
    assert method_for("echo", {"document": {"id": 2**53}}) is METHODS["echo"]


@pytest.mark.parametrize("document", [math.nan, {"x": math.inf}, object()], ids=["NaN", "infinity", "no JSON"])
def test_what_is_not_json_is_refused_before_anything_is_sent(document: object) -> None:
    with pytest.raises(CallFailed, match="gRPC") as failed:
        method_for("echo", {"document": document})
    assert failed.value.status == "protocol"


def test_a_sum_is_of_32_bit_integers() -> None:
    with pytest.raises(CallFailed, match="cannot carry this add request"):
        method_for("add", {"a": 2**31, "b": 0})


def test_records_stay_messages_on_the_responder_and_are_plain_at_the_requester() -> None:
    record = {"id": 1, "name": "amber", "value": -0.5, "active": True, "tags": ["kelp"]}
    echo = METHODS["echo"]
    arrived = echo.unpack_request(echo.pack_request({"records": [record]}))
    assert list(arrived) == ["records"]
    assert not isinstance(arrived["records"], list)
    assert echo.unpack_reply(echo.pack_reply(arrived)) == {"records": [record]}


def test_an_echo_of_nothing_reaches_the_operation_as_nothing() -> None:
    echo = METHODS["echo"]
    empty = type(echo.pack_request({"data": b""}))()
    assert echo.unpack_request(empty) == {}


def test_sizes_are_those_of_the_serialised_messages() -> None:
    add = METHODS["add"]
    exchange = (add.pack_request({"a": 1, "b": 2}), add.pack_reply({"sum": 3}))
    assert sizes(exchange) == (4, 2)
