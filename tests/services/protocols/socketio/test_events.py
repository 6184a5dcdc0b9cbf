"""How operations look in Socket.IO events, and acknowledgements that are no replies."""

from __future__ import annotations

import math

import pytest

from services.python.contract.offers import find_protocol
from services.python.load.client import CallFailed, CallSpec
from services.python.protocols.socketio import events
from tests.support import wire

pytestmark = pytest.mark.busy


def test_an_acknowledgement_with_fields_is_the_reply() -> None:
    assert events.read_acknowledgement(({"sum": 3},)) == {"sum": 3}


@pytest.mark.parametrize("arguments", [(), (3,), ({"sum": 3}, {"sum": 3})], ids=["none", "a number", "two"])
def test_an_acknowledgement_without_one_set_of_fields_is_undecodable(arguments: tuple[object, ...]) -> None:
    with pytest.raises(CallFailed) as failed:
        events.read_acknowledgement(arguments)
    assert failed.value.status == "undecodable"


def test_an_error_is_an_error_in_the_protocols_own_words() -> None:
    with pytest.raises(CallFailed, match="not today") as failed:
        events.read_acknowledgement(({"error": "not today"},))
    assert failed.value.status == "protocol"


def test_what_is_not_json_is_refused_before_anything_is_sent() -> None:
    call = CallSpec(host=wire.HOST, port=7, operation="echo", timeout_s=1, example={"document": [math.inf]})
    with pytest.raises(CallFailed, match="cannot be encoded as JSON") as failed:
        events.check_encodable(call)
    assert failed.value.status == "protocol"


@pytest.mark.parametrize("client", [client.name for client in find_protocol("socketio").clients])
def test_an_http_server_that_is_no_socketio_server_is_an_error_of_the_protocol(client: str) -> None:
    with (
        wire.misbehaving(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", then_close=False) as port,
        pytest.raises(CallFailed, match="404") as failed,
    ):
        wire.ask("socketio", client, port, "add", {"a": 1, "b": 2}, timeout_s=20)
    assert failed.value.status == "protocol"


@pytest.mark.parametrize("client", [client.name for client in find_protocol("socketio").clients])
def test_an_event_that_nobody_handles_is_never_acknowledged(client: str) -> None:
    with (
        wire.responding("socketio", "python-socketio") as running,
        pytest.raises(CallFailed, match="no acknowledgement") as failed,
    ):
        wire.ask("socketio", client, running.port, "subtract", {"a": 1, "b": 2}, timeout_s=0.5)
    assert failed.value.status == "timeout"


def test_a_request_that_lacks_a_field_is_told_which() -> None:
    with (
        wire.responding("socketio", "python-socketio") as running,
        pytest.raises(CallFailed, match="the request lacks 'b'") as failed,
    ):
        wire.ask("socketio", "socketio", running.port, "add", {"a": 1})
    assert failed.value.status == "protocol"


@pytest.mark.parametrize(("client", "round_trips"), [("socketio", 3), ("socketio-sync", 3), ("socketio-polling", 4)])
def test_long_polling_needs_one_round_trip_more_to_open(client: str, round_trips: int) -> None:
    assert find_protocol("socketio").round_trips(client) == round_trips
