"""gRPC, WebSocket, Socket.IO and their like: what holds for every responder and every client of each.

All goes through the responder's own process and the dialer that a requester loads.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.python.contract.offers import find_protocol
from services.python.load.client import CallFailed
from services.python.operations import OPERATIONS
from tests.support import wire
from tests.support.servers import misbehaving

PROTOCOLS = [find_protocol(name) for name in wire.FRAMED]
CLIENTS = [(p.name, p.responders[0].name, c.name) for p in PROTOCOLS for c in p.clients]
PAIRS = [(p.name, r.name, c.name) for p in PROTOCOLS for r in p.responders for c in p.clients]

Get = Callable[[str, str], wire.Running]


@pytest.mark.parametrize(("protocol", "implementation", "client"), PAIRS)
def test_every_operation_comes_back(answering: Get, protocol: str, implementation: str, client: str) -> None:
    port = answering(protocol, implementation).port
    for case, (operation, request) in wire.REQUESTS.items():
        [(value, _)] = wire.ask(protocol, client, port, operation, request)
        assert OPERATIONS[operation].verify(request, value) is None, case


@pytest.mark.parametrize(("protocol", "implementation", "client"), PAIRS)
def test_a_request_that_the_operation_refuses_is_an_error_in_the_protocols_own_words(
    answering: Get, protocol: str, implementation: str, client: str
) -> None:
    port = answering(protocol, implementation).port
    with pytest.raises(CallFailed, match="not a picture") as failed:
        wire.ask(protocol, client, port, "image", {"data": b"no picture at all", "full_decode": False})
    assert failed.value.status == "protocol"


@pytest.mark.parametrize(("protocol", "_implementation", "client"), CLIENTS)
@pytest.mark.parametrize(
    ("answer", "then_close", "status"),
    [(b"", False, "timeout"), (b"", True, "closed"), (b"who is there?\r\n\r\n", True, "undecodable")],
    ids=["hangs", "closes", "talks junk"],
)
def test_a_server_that_misbehaves_is_told_by_its_kind(
    protocol: str, _implementation: str, client: str, answer: bytes, then_close: bool, status: str
) -> None:
    timeout_s = 0.5 if status == "timeout" else 20
    with misbehaving(answer, then_close=then_close) as port, pytest.raises(CallFailed) as failed:
        wire.ask(protocol, client, port, "add", {"a": 1, "b": 2}, timeout_s=timeout_s)
    assert failed.value.status == status
