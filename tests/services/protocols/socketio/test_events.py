"""How operations look in Socket.IO events, and acknowledgements that are no replies."""

from __future__ import annotations

import pytest

from services.python.contract.offers import find_protocol
from services.python.load.client import CallFailed
from services.python.protocols.socketio import events
from tests.support import wire
from tests.support.servers import misbehaving

pytestmark = pytest.mark.busy


@pytest.mark.parametrize("arguments", [(), (3,), ({"sum": 3}, {"sum": 3})], ids=["none", "a number", "two"])
def test_an_acknowledgement_without_one_set_of_fields_is_undecodable(arguments: tuple[object, ...]) -> None:
    with pytest.raises(CallFailed) as failed:
        events.read_acknowledgement(arguments)
    assert failed.value.status == "undecodable"


def test_an_error_is_an_error_in_the_protocols_own_words() -> None:
    with pytest.raises(CallFailed, match="not today") as failed:
        events.read_acknowledgement(({"error": "not today"},))
    assert failed.value.status == "protocol"


@pytest.mark.parametrize("client", [client.name for client in find_protocol("socketio").clients])
def test_an_http_server_that_is_no_socketio_server_is_an_error_of_the_protocol(client: str) -> None:
    with (
        misbehaving(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", then_close=False) as port,
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
