"""A real responder process, real clients, and servers that misbehave on purpose."""

from __future__ import annotations

import asyncio
import importlib
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from services.python.contract.limits import Policy
from services.python.contract.offers import Client, find_protocol, protocols
from services.python.load.client import CallSpec, Reply, Request
from services.python.transports.http.clients import clients

HOST = "127.0.0.1"

# A protocol that is added is tested with its like, without being entered anywhere.
HTTP_CLIENTS = [client.name for client in clients("")]
HTTP = [
    p.name
    for p in protocols().values()
    if p.responders and [c.name for c in p.clients if c.kind == "call"] == HTTP_CLIENTS
]


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
    spec = find_protocol(protocol).client(client)
    call = CallSpec(host=HOST, port=port, operation=operation, timeout_s=timeout_s, example=request, knobs=knobs or {})
    dialer = importlib.import_module(spec.module).dialer(call, spec)
    per_connection = times if policy == "reuse" else 1
    replies = []
    for _ in range(times // per_connection):
        replies += _converse(spec, dialer, [request] * per_connection)
    return replies


def _converse(client: Client, dialer: Any, requests: list[Request]) -> list[tuple[Reply, tuple[int, int]]]:
    if client.style == "sync":
        connection = dialer.dial()
        try:
            replies = [(request, connection.call(request)) for request in requests]
        finally:
            connection.close()
            connection.close()
        # Only now: a reply may be verified when its connection is gone.
        return [(connection.value(reply), connection.sizes(request, reply)) for request, reply in replies]

    async def converse() -> list[tuple[Reply, tuple[int, int]]]:
        connection = await dialer.dial()
        try:
            replies = [(request, await connection.call(request)) for request in requests]
        finally:
            await connection.close()
            await connection.close()
        return [(connection.value(reply), connection.sizes(request, reply)) for request, reply in replies]

    replies: list[tuple[Reply, tuple[int, int]]] = run_awaiting(converse())
    return replies


def run_awaiting(coroutine: Any) -> Any:
    """Run a coroutine as the harness does: on uvloop."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(coroutine)


def free_port() -> int:
    """A port that nobody listens on (and that the kernel has just given to nobody else)."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def refusing_port() -> Iterator[int]:
    """A port that refuses connections, and that nobody else can take meanwhile: bound, and not listening."""
    with socket.socket() as bound:
        bound.bind((HOST, 0))
        port: int = bound.getsockname()[1]
        yield port


@contextmanager
def misbehaving(answer: bytes, *, then_close: bool) -> Iterator[int]:
    """The port of a server that reads once, sends `answer` to whatever it was, and closes the connection or hangs."""
    listener = socket.create_server((HOST, 0))
    held: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        try:
            connection.recv(65536)
            connection.sendall(answer)
            if then_close:
                connection.close()
        except OSError:
            return  # the client has gone

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # the listener was closed
            held.append(connection)
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in held:
            connection.close()
