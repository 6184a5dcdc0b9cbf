"""What Protocol Buffers carry, and what they cannot."""

from __future__ import annotations

import math
from typing import Any

import pytest

from services.python.codecs.protobuf import method_for, method_named
from services.python.generated import orch_pb2_grpc
from services.python.load.client import CallFailed
from services.python.protocols.grpc.calling import MeasuredChannel


def test_an_integer_that_no_double_holds_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(CallFailed, match=r"beyond 2\^53") as failed:
        method_for("echo", {"document": {"id": 2**53 + 1}})
    assert failed.value.status == "protocol"
    assert method_for("echo", {"document": {"id": 2**53}}) is method_named("echo")


@pytest.mark.parametrize("document", [math.nan, {"x": math.inf}, object()], ids=["NaN", "infinity", "no JSON"])
def test_what_is_not_json_is_refused_before_anything_is_sent(document: object) -> None:
    with pytest.raises(CallFailed, match="Protocol Buffers") as failed:
        method_for("echo", {"document": document})
    assert failed.value.status == "protocol"


def test_a_calls_lengths_are_those_of_the_serialised_messages() -> None:
    add = method_named("add")

    class Channel:
        """Answers every call with a sum of 3."""

        def unary_unary(self, _path: str, request_serializer: Any, response_deserializer: Any, **_more: Any) -> Any:
            answer = add.pack_reply({"sum": 3}).SerializeToString()
            return lambda message: (request_serializer(message), response_deserializer(answer))

        def unary_stream(self, _path: str, **_more: Any) -> None:
            """No stream is asked for here."""

    channel = MeasuredChannel(Channel())
    sent, reply = orch_pb2_grpc.OrchStub(channel).Add(add.pack_request({"a": 1, "b": 2}))
    assert (channel.sent, channel.received) == (len(sent), reply.ByteSize()) == (4, 2)
