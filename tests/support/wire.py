"""A real responder process, real clients, and servers that misbehave on purpose."""

from __future__ import annotations

import asyncio
import importlib
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from services.python.contract.limits import Policy
from services.python.contract.lines import Payload
from services.python.contract.offers import Client, find_protocol, protocols
from services.python.load.client import CallSpec, Reply, Request
from services.python.operations import OPERATIONS
from services.python.operations.picture import picture
from services.python.transports.http.clients import clients
from tests.support.ends import Program, responder

HOST = "127.0.0.1"
NONCE = "the-right-one"
T = TypeVar("T")

# A protocol that is added is tested with its like, without being entered anywhere.
HTTP_CLIENTS = [client.name for client in clients("")]
HTTP = [
    p.name
    for p in protocols().values()
    if p.responders and [c.name for c in p.clients if c.kind == "call"] == HTTP_CLIENTS
]
CALLING = [
    p for p in protocols().values() if p.responders and any(OPERATIONS[name].kind == "call" for name in p.operations)
]
FRAMED = [p.name for p in CALLING if p.name not in HTTP and not p.is_floor]

_RECORDS = OPERATIONS["echo"].requests(Payload(kind="records", count=20), 7)(1, lambda: 0)
_DOCUMENT: Mapping[str, Any] = {
    "title": "naïve – 東京 🗼",
    "list": [1, 2.5, -3, None, True, []],
    "deep": {"a": {"b": {"c": {}}}},
}
_DOWNLOAD = OPERATIONS["transfer"].requests(Payload(kind="transfer", size=10, reply_size=70_000), 7)(1, lambda: 0)
_UPLOAD = OPERATIONS["transfer"].requests(Payload(kind="transfer", size=70_000, reply_size=1), 7)(1, lambda: 0)
REQUESTS: dict[str, tuple[str, Request]] = {
    "timestamp": ("timestamp", {"request_timestamp": "2026-11-21T02:30:00.123456Z"}),
    "add": ("add", {"a": -(2**30) + 1, "b": 17}),
    "echo of bytes": ("echo", {"data": bytes(range(256)) * 4}),
    "echo of no bytes": ("echo", {"data": b""}),
    "echo of records": ("echo", _RECORDS),
    "echo of a document": ("echo", {"document": _DOCUMENT}),
    "echo of a bare null": ("echo", {"document": None}),
    "image": ("image", {"data": picture(20_000), "full_decode": False}),
    "image, fully decoded": ("image", {"data": picture(20_000), "full_decode": True}),
    "transfer of little for much": ("transfer", _DOWNLOAD),
    "transfer of much for little": ("transfer", _UPLOAD),
}


@dataclass(frozen=True, kw_only=True)
class Running:
    """A responder that accepts connections."""

    program: Program
    port: int
    identity: str = NONCE


@contextmanager
def responding(protocol: str, implementation: str, **how: Any) -> Iterator[Running]:
    """A responder process for as long as the block lasts; `how` as of `ends.responder`."""
    with responder(protocol, NONCE, implementation=implementation, **how) as (program, ready):
        yield Running(program=program, port=ready["port"])


def ask(
    protocol: str,
    client: str,
    port: int,
    operation: str,
    request: Request,
    *,
    times: int = 1,
    policy: Policy = "reuse",
    timeout_s: float = 30.0,
    knobs: Mapping[str, str] | None = None,
) -> list[tuple[Reply, tuple[int, int]]]:
    """The values and sizes of so many replies, asked one after the other as the load loops would. CallFailed."""
    spec, dialer = dialer_of(protocol, client, port, operation, request, timeout_s=timeout_s, knobs=knobs or {})
    per_connection = times if policy == "reuse" else 1
    values = []
    for _ in range(times // per_connection):
        # A reply may be verified when its connection is gone.
        connection, replies = converse(spec, dialer, [request] * per_connection)
        values += [(connection.value(reply), connection.sizes(request, reply)) for reply in replies]
    return values


def dialer_of(
    protocol: str, client: str, port: int, operation: str, example: Request, *, timeout_s: float = 30.0, **more: Any
) -> tuple[Client, Any]:
    """A client as declared, and what dials with it; `more` of its `CallSpec`."""
    spec = find_protocol(protocol).client(client)
    call = CallSpec(host=HOST, port=port, operation=operation, timeout_s=timeout_s, example=example, **more)
    return spec, importlib.import_module(spec.module).dialer(call, spec)


def converse(client: Client, dialer: Any, requests: Sequence[Request]) -> tuple[Any, list[Any]]:
    """A connection that is closed by now, and what its calls returned."""
    if client.style == "sync":
        connection = dialer.dial()
        try:
            return connection, [connection.call(request) for request in requests]
        finally:
            connection.close()
            connection.close()

    async def awaited() -> tuple[Any, list[Any]]:
        connection = await dialer.dial()
        try:
            return connection, [await connection.call(request) for request in requests]
        finally:
            await connection.close()
            await connection.close()

    return run_awaiting(awaited())


def subscribing(
    protocol: str, client: str, port: int, operation: str, request: Request, use: Callable[[Any], Awaitable[T]]
) -> T:
    """What `use` makes of a connection with that subscription, closed behind it."""
    _, dialer = dialer_of(protocol, client, port, operation, request, kind="stream")

    async def run() -> T:
        connection = await dialer.dial()
        try:
            async with asyncio.timeout(60):
                await connection.subscribe(request)
                return await use(connection)
        finally:
            await connection.close()

    return run_awaiting(run())


def run_awaiting(coroutine: Any) -> Any:
    """Run a coroutine as the harness does: on uvloop."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(coroutine)


def free_port() -> int:
    """A port that nobody listens on (and that the kernel has just given to nobody else)."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


@contextmanager
def refusing_port() -> Iterator[int]:
    """A port that refuses connections, and that nobody else can take meanwhile: bound, and not listening."""
    with socket.socket() as bound:
        bound.bind((HOST, 0))
        port: int = bound.getsockname()[1]
        yield port
