"""gRPC, WebSocket, Socket.IO and their like: what holds for every responder and every client of each.

All goes through the responder's own process and the dialer that a requester loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from services.python.contract.limits import POLICIES, Policy
from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.contract.offers import find_protocol
from services.python.load.client import CallFailed
from services.python.operations import OPERATIONS
from tests.support import wire

PROTOCOLS = [find_protocol(name) for name in wire.FRAMED]
CLIENTS = [(p.name, p.responders[0].name, c.name) for p in PROTOCOLS for c in p.clients]
PAIRS = [(p.name, r.name, c.name) for p in PROTOCOLS for r in p.responders for c in p.clients]
PORTS_MAY_COME_ROUND = 10

Get = Callable[[str, str], wire.Running]


@pytest.fixture(scope="module")
def responder() -> Iterator[Get]:
    """Gives the running responder of a protocol and implementation; each is started once."""
    with ExitStack() as stack:
        yield cache(lambda protocol, name: stack.enter_context(wire.responding(protocol, name)))


@pytest.mark.parametrize(("protocol", "implementation", "client"), PAIRS)
def test_every_operation_comes_back(responder: Get, protocol: str, implementation: str, client: str) -> None:
    port = responder(protocol, implementation).port
    for case, (operation, request) in wire.REQUESTS.items():
        [(value, _)] = wire.ask(protocol, client, port, operation, request)
        assert OPERATIONS[operation].verify(request, value) is None, case


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("protocol", "implementation", "client"), PAIRS)
def test_there_are_as_many_connections_as_the_policy_says(
    responder: Get, protocol: str, implementation: str, client: str, policy: Policy
) -> None:
    running = responder(protocol, implementation)
    # A peer is a port, and the kernel hands a port out again by chance; a kept connection is never several peers.
    for _ in range(PORTS_MAY_COME_ROUND):
        before = running.stats()
        wire.ask(protocol, client, running.port, "add", {"a": 1, "b": 2}, times=3, policy=policy)
        after = running.stats()
        assert after["answered"] - before["answered"] == 3
        seen = after["peers"] - before["peers"]
        assert seen <= (1 if policy == "reuse" else 3)
        if seen == (1 if policy == "reuse" else 3):
            return
    pytest.fail(f"three requests under {policy} were {seen} new peers, {PORTS_MAY_COME_ROUND} times over")


@pytest.mark.parametrize(("protocol", "implementation", "client"), PAIRS)
def test_a_request_that_the_operation_refuses_is_an_error_in_the_protocols_own_words(
    responder: Get, protocol: str, implementation: str, client: str
) -> None:
    port = responder(protocol, implementation).port
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
    with (
        wire.misbehaving(answer, then_close=then_close) as port,
        pytest.raises(CallFailed) as failed,
    ):
        wire.ask(protocol, client, port, "add", {"a": 1, "b": 2}, timeout_s=timeout_s)
    assert failed.value.status == status


@pytest.mark.parametrize(("protocol", "_implementation", "client"), CLIENTS)
def test_where_nobody_listens_the_connection_is_refused(protocol: str, _implementation: str, client: str) -> None:
    with wire.refusing_port() as port, pytest.raises(CallFailed) as failed:
        wire.ask(protocol, client, port, "add", {"a": 1, "b": 2}, timeout_s=20)
    assert failed.value.status == "refused"


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("protocol", "client", "concurrency"),
    [(p.name, p.sequential, 1) for p in PROTOCOLS] + [(p.name, p.concurrent, 4) for p in PROTOCOLS],
)
def test_a_whole_trial_through_the_requester_has_no_errors(
    responder: Get, tmp_path: Path, protocol: str, client: str, concurrency: int, policy: Policy
) -> None:
    running = responder(protocol, find_protocol(protocol).responders[0].name)
    trial = Trial(
        target=Target(host=wire.HOST, port=running.port, identity=wire.NONCE),
        protocol=protocol,
        client=client,
        operation="echo",
        record=str(tmp_path / "record"),
        payload=Payload(kind="records", count=5),
        connection=policy,
        load=Load(concurrency=concurrency, requests=40),
        warmup=Warmup(requests=8, at_least_s=0.0),
    )
    before = running.stats()
    done = wire.requested(trial)
    peers = running.stats()["peers"] - before["peers"]

    assert (done["type"], done.get("errors")) == ("done", {}), done
    assert (done["warmup_requests"], done["requests"]) == (8, 40)
    # Besides the load's own: one connection asks who answers, another the operation.
    if policy == "reuse":
        assert peers <= concurrency + 2
    else:  # a port may come round again
        assert 24 < peers <= 48 + 2


@pytest.mark.parametrize(
    ("module", "strangers"),
    [
        ("services.python.protocols.grpc.requester", {"aiohttp", "uvicorn", "uvloop", "PIL", "socketio"}),
        ("services.python.protocols.grpc.aio_requester", {"aiohttp", "uvicorn", "PIL", "socketio"}),
        ("services.python.protocols.grpc.responder", {"aiohttp", "uvicorn", "uvloop", "PIL", "socketio"}),
        ("services.python.protocols.grpc.aio_responder", {"aiohttp", "uvicorn", "PIL", "socketio"}),
        ("services.python.protocols.websocket.requester", {"aiohttp", "websockets", "uvicorn", "grpc", "PIL"}),
        (
            "services.python.protocols.websocket.websockets_requester",
            {"aiohttp", "websocket", "uvicorn", "grpc", "PIL"},
        ),
        (
            "services.python.protocols.websocket.aiohttp_requester",
            {"websocket", "websockets", "uvicorn", "grpc", "PIL"},
        ),
        ("services.python.protocols.websocket.responder", {"aiohttp", "websocket", "grpc", "PIL"}),
        ("services.python.protocols.socketio.requester", {"uvicorn", "grpc", "PIL"}),
        ("services.python.protocols.socketio.sync_requester", {"uvicorn", "grpc", "PIL"}),
        ("services.python.protocols.socketio.responder", {"grpc", "PIL"}),
    ],
)
def test_each_end_loads_only_what_it_speaks_with(module: str, strangers: set[str]) -> None:
    assert not wire.modules_after(f"import {module}") & strangers
