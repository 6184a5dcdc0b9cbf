"""An operation that is added is answered by every protocol that carries its message, with no change to the protocol."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from services.python.contract.offers import ANY, find_protocol, protocols
from services.python.load.client import CallFailed, CallSpec
from services.python.load.stream_load import ask_event
from services.python.operations.events import text_of
from tests.support import added_operations, wire
from tests.support.matrix import is_default_responder, others_slow

pytestmark = pytest.mark.busy

CALLING = {
    name: protocol for name, protocol in protocols().items() if protocol.responders and protocol.streams != "alone"
}
STREAMING = {name: protocol for name, protocol in protocols().items() if protocol.streams != "no"}
RESPONDERS = [(name, r.name) for name, protocol in CALLING.items() for r in protocol.responders]
CLIENTS = [(name, c.name) for name, protocol in CALLING.items() for c in protocol.clients if c.kind == "call"]
STREAM_RESPONDERS = [(name, r.name) for name, protocol in STREAMING.items() for r in protocol.responders]
STREAM_CLIENTS = [
    (name, c.name) for name, protocol in STREAMING.items() for c in protocol.clients if "stream" not in c.refuses
]
ALONE = [(name, c.name) for name, protocol in protocols().items() for c in protocol.clients if c.kind == "codec"]
WITHOUT_SCHEMA = {name for name, protocol in protocols().items() if protocol.messages == ANY}
PATIENCE_S = 30.0

ASKED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("subtract", {"a": 5, "b": 9}, {"sum": -4}),
    ("double_sum", {"a": 5, "b": 9}, {"sum": 28}),
    (
        "backwards",
        {"request_timestamp": "2026"},
        {"request_timestamp": "6202", "response_timestamp": "now"},
    ),
    ("say_again", {"data": b"\x00\xff"}, {"data": b"\x00\xff"}),
    (
        "say_again",
        {"records": [{"id": 1, "name": "x", "value": 0.5, "active": True, "tags": ["t"]}]},
        {"records": [{"id": 1, "name": "x", "value": 0.5, "active": True, "tags": ["t"]}]},
    ),
    ("say_again", {"document": {"a": [None]}}, {"document": {"a": [None]}}),
    ("turned", {"data": b"abc", "full_decode": True}, {"width": 3, "height": 7}),
]
ASKED_WITHOUT_SCHEMA: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "seal",
        {"text": "naïve", "times": 3, "weight": 2.5, "is_open": True, "data": b"\x00\xff"},
        {"length": 6, "half": 1.25, "is_open": False, "data": b"\xff\x00", "name": "NAÏVE"},
    ),
    ("note", {"data": "东"}, {"data": "东!"}),
]


@pytest.fixture(autouse=True)
def _added() -> Iterator[None]:
    with added_operations.added():
        yield


def asked_of(protocol: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    return ASKED + (ASKED_WITHOUT_SCHEMA if protocol in WITHOUT_SCHEMA else [])


def _first_tick(protocol: str, client: str, port: int) -> Any:
    declared = find_protocol(protocol).client(client)
    asked = {"interval_ns": 1_000_000, "count": 1, "size": 5, "seed": 3}
    call = CallSpec(host="127.0.0.1", port=port, operation="ticks", timeout_s=PATIENCE_S, example=asked, kind="stream")
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        return ask_event(loop, PATIENCE_S, importlib.import_module(declared.module).dialer(call, declared), asked)[0]
    finally:
        asyncio.set_event_loop(None)
        loop.close()


@pytest.mark.parametrize(("protocol", "implementation"), STREAM_RESPONDERS)
def test_each_responder_of_streams_sends_its_events(protocol: str, implementation: str) -> None:
    with wire.responding(protocol, implementation, module=added_operations.__name__) as running:
        event = _first_tick(protocol, find_protocol(protocol).concurrent, running.port)
    assert (event["sequence"], event["data"]) == (1, text_of(3, 5, 1))


@pytest.mark.parametrize(("protocol", "client"), STREAM_CLIENTS)
def test_each_client_of_streams_reads_its_events(port_of: Any, protocol: str, client: str) -> None:
    event = _first_tick(protocol, client, port_of(protocol))
    assert (event["sequence"], event["data"]) == (1, text_of(3, 5, 1))


@pytest.mark.parametrize(("protocol", "implementation"), others_slow(RESPONDERS, is_default_responder))
def test_each_responder_answers_it_where_it_says_that_it_runs(protocol: str, implementation: str) -> None:
    spoken = find_protocol(protocol)
    client = spoken.default_client(1).name
    with wire.responding(protocol, implementation, module=added_operations.__name__) as running:

        def ask(operation: str, request: dict[str, Any]) -> Any:
            return wire.ask(protocol, client, running.port, operation, request)[0][0]

        for operation, request, reply in asked_of(protocol):
            assert ask(operation, request) == reply
        # Each waits for the other.
        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(lambda a: ask("meet", {"a": a, "b": 1}), (1, 2))) == [{"sum": 2}, {"sum": 3}]
        if spoken.responder(implementation).parts.server in ("uvicorn", "grpcio asyncio"):
            assert ask("where", {"a": 0, "b": 0}) == {"sum": 1}


@pytest.fixture(scope="module")
def port_of() -> Iterator[Any]:
    """The port of a running default responder of each protocol, started when first asked for."""
    running: dict[str, tuple[Any, int]] = {}

    def port(protocol: str) -> int:
        if protocol not in running:
            first = find_protocol(protocol).responders[0].name
            context = wire.responding(protocol, first, module=added_operations.__name__)
            running[protocol] = context, context.__enter__().port
        return running[protocol][1]

    yield port
    for context, _ in running.values():
        context.__exit__(None, None, None)


@pytest.mark.parametrize(("protocol", "client"), CLIENTS)
def test_each_client_asks_it(port_of: Any, protocol: str, client: str) -> None:
    for operation, request, reply in asked_of(protocol):
        [(value, sizes)] = wire.ask(protocol, client, port_of(protocol), operation, request)
        assert value == reply, operation
        assert min(sizes) > 0


@pytest.mark.parametrize(("protocol", "client"), ALONE)
def test_each_codec_alone_codes_its_messages(protocol: str, client: str) -> None:
    declared = find_protocol(protocol).client(client)
    for operation, request, reply in asked_of(protocol):
        exchange = {"request": request, "reply": reply}
        call = CallSpec(host="", port=0, operation=operation, timeout_s=1.0, example=exchange)
        connection = importlib.import_module(declared.module).dialer(call, declared).dial()
        coded = connection.call(exchange)
        assert connection.value(coded) == exchange, operation
        assert min(connection.sizes(exchange, coded)) > 0


@pytest.mark.parametrize("protocol", sorted(CALLING))
def test_an_operation_that_is_not_there_is_an_error_and_not_the_end(port_of: Any, protocol: str) -> None:
    """Asked by a client that believes in it, under the name of a message that this protocol has."""
    client = find_protocol(protocol).default_client(1).name
    every = added_operations.OPERATIONS
    every["absent"] = every["subtract"]  # type: ignore[index]
    try:
        with pytest.raises(CallFailed):
            wire.ask(protocol, client, port_of(protocol), "absent", {"a": 1, "b": 2}, timeout_s=2)
    finally:
        del every["absent"]  # type: ignore[attr-defined]
    assert wire.ask(protocol, client, port_of(protocol), "add", {"a": 1, "b": 2})[0][0] == {"sum": 3}
