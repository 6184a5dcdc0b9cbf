"""gRPC, WebSocket, Socket.IO and their like: what holds for every responder and every client of each.

All goes through the responder's own process and the dialer that a requester loads.
"""

from __future__ import annotations

import importlib
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from services.python.contract.limits import POLICIES, Policy
from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.contract.offers import Client, find_protocol
from services.python.contract.responder_lines import Serve
from services.python.load.client import CallFailed, CallSpec
from services.python.operations import OPERATIONS
from tests.support import wire
from tests.support.ends import program

PROTOCOLS = [find_protocol(name) for name in wire.FRAMED]
RESPONDERS = [(p.name, r.name) for p in PROTOCOLS for r in p.responders]
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


@pytest.mark.parametrize("case", wire.FIVE_MB)
@pytest.mark.parametrize(("protocol", "implementation", "client"), PAIRS)
def test_five_megabytes_pass_and_are_counted(
    responder: Get, protocol: str, implementation: str, client: str, case: str
) -> None:
    operation, request = wire.FIVE_MB[case]
    [(value, (sent, received))] = wire.ask(
        protocol, client, responder(protocol, implementation).port, operation, request
    )
    assert OPERATIONS[operation].verify(request, value) is None
    assert 5_000_000 <= sent < 5_000_200
    assert received >= 5_000_000 if case == "echo" else 1 <= received < 200


@pytest.mark.parametrize(("protocol", "implementation", "client"), PAIRS)
def test_the_responder_says_who_it_is(responder: Get, protocol: str, implementation: str, client: str) -> None:
    [(value, _)] = wire.ask(protocol, client, responder(protocol, implementation).port, "identity", {})
    assert value == {"identity": wire.NONCE}


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


@pytest.mark.parametrize(("protocol", "implementation", "client"), CLIENTS)
def test_a_responder_that_dies_fails_the_request_at_once(protocol: str, implementation: str, client: str) -> None:
    """At once: the time-out is an hour."""
    with wire.responding(protocol, implementation) as running, pytest.raises(CallFailed) as failed:
        _two_calls(find_protocol(protocol).client(client), running)
    assert failed.value.status in {"closed", "refused"}


def _two_calls(client: Client, running: wire.Running) -> None:
    request = {"a": 1, "b": 2}
    call = CallSpec(host=wire.HOST, port=running.port, operation="add", timeout_s=3600, example=request)
    dialer = importlib.import_module(client.module).dialer(call, client)
    if client.style == "sync":
        connection = dialer.dial()
        connection.call(request)
        running.kill()
        try:
            connection.call(request)
        finally:
            connection.close()
        return

    async def two_calls() -> None:
        connection = await dialer.dial()
        await connection.call(request)
        running.kill()
        try:
            await connection.call(request)
        finally:
            await connection.close()

    wire.run_awaiting(two_calls())


@pytest.mark.parametrize(("protocol", "implementation"), RESPONDERS)
def test_a_port_that_is_taken_is_one_line_and_status_1(protocol: str, implementation: str) -> None:
    with socket.create_server((wire.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with program("services.python.programs.respond") as refused:
            serve = Serve(protocol=protocol, implementation=implementation, host=wire.HOST, port=port, identity="x")
            refused.send(serve.to_json())
            status, lines, stderr = refused.ended_by_itself()
        assert (status, lines) == (1, [])
        assert f"cannot listen on {wire.HOST}:{port}" in stderr.splitlines()[-1]


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


@pytest.mark.parametrize("protocol", wire.FRAMED)
def test_reading_what_a_protocol_says_of_itself_loads_no_library(protocol: str) -> None:
    loaded = wire.modules_after(
        f"from services.python.contract.offers import find_protocol; find_protocol({protocol!r})"
    )
    assert not loaded & {
        "grpc",
        "google.protobuf",
        "aiohttp",
        "websocket",
        "websockets",
        "socketio",
        "uvicorn",
        "uvloop",
    }


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
