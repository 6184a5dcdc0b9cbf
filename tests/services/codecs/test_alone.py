"""A codec alone: what its call returns, what is recorded of it, and what a trial of one cannot ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.python.codecs import alone
from services.python.codecs.base import Coder, self_describing
from services.python.codecs.json import CODEC as JSON
from services.python.contract.lines import Load
from services.python.contract.messages import OF_THE_STORE
from services.python.load.client import CallFailed, CallSpec
from services.python.operations import OPERATIONS
from tests.support.ends import made_here, trial_of

ADD = {"request": {"a": -123_456_789, "b": 987_654_321}, "reply": {"sum": 864_197_532}}


def call(operation: str, exchange: Any) -> CallSpec:
    return CallSpec(host="", port=0, operation=operation, timeout_s=1, example=exchange)


def coding(operation: str, exchange: Any, codec: Any = JSON) -> alone.Alone:
    return alone.of_codec(codec, call(operation, exchange)).dial()


def test_both_messages_are_encoded_then_both_decoded() -> None:
    connection = coding("add", ADD)
    reply = connection.call(ADD)
    assert connection.value(reply) == ADD
    encode, decode = connection.parts(ADD, reply)
    assert encode.sent_ns <= encode.received_ns == decode.sent_ns <= decode.received_ns
    assert connection.sizes(ADD, reply) == (30, 17)
    assert (encode.bytes_sent, encode.bytes_received, decode.bytes_sent, decode.bytes_received) == (47, 0, 0, 47)


def test_what_cannot_be_decoded_and_what_is_decoded_to_something_else_are_errors() -> None:
    def read(body: bytes) -> dict[str, Any]:
        raise ValueError("torn")

    torn = self_describing("text/plain", Coder(write=lambda fields: b"", read=read), (ValueError,))
    with pytest.raises(CallFailed, match="undecodable: torn"):
        coding("add", ADD, torn).call(ADD)
    assert alone.verify(ADD, ADD) is None
    assert "the reply {'sum': 864197532} was decoded as {'sum': 1}" in str(
        alone.verify(ADD, {**ADD, "reply": {"sum": 1}})
    )


def test_what_cannot_be_encoded_is_said_before_anything_is_timed() -> None:
    exchange = {"request": {"document": float("nan")}, "reply": {"document": float("nan")}}
    with pytest.raises(CallFailed, match="echo cannot be encoded"):
        coding("echo", exchange)


def test_text_that_is_not_ascii_is_new_for_each_sample() -> None:
    """An encoder that once asked for its UTF-8 would find it again: CPython keeps it with the string."""
    shared = {"document": {"käse": ["naïve", "plain"]}}
    made = alone.exchanges(OPERATIONS["echo"], lambda _sequence, _wall: shared)
    one, other = made(1, lambda: 0), made(2, lambda: 0)
    assert one == other == {"request": shared, "reply": shared}
    for part in ("request", "reply"):
        assert one[part]["document"]["käse"][0] is not other[part]["document"]["käse"][0]
        assert next(iter(one[part]["document"])) is not next(iter(other[part]["document"]))
        assert one[part]["document"]["käse"][1] is other[part]["document"]["käse"][1]
    plain = {"document": {"cheese": ["plain"]}}
    made = alone.exchanges(OPERATIONS["echo"], lambda _sequence, _wall: plain)
    assert made(1, lambda: 0)["request"] is made(2, lambda: 0)["request"]


@pytest.mark.parametrize("operation", sorted(OF_THE_STORE))
@pytest.mark.parametrize(
    ("protocol", "client"), [("http+json", "orjson"), ("graphql", "stdlib"), ("http+protobuf", "protobuf")]
)
def test_messages_of_a_store_are_coded_with_rows_from_memory(
    tmp_path: Path, protocol: str, client: str, operation: str
) -> None:
    asked = {"target": None, "operation": operation, "load": Load(requests=20)}
    done: Any = made_here(trial_of(protocol, client, 0, tmp_path / "record", **asked))[-1]
    assert (done.requests, done.verified, done.errors) == (20, 20, {})
