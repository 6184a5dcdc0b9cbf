"""Answers events by acknowledgement, with python-socketio as an ASGI application on uvicorn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import socketio

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.operations import OPERATIONS
from services.python.protocols.socketio import PROTOCOL
from services.python.serve.dispatcher import Dispatcher, Peer
from services.python.serve.responder import Announce
from services.python.transports.http import asgi

_SELDOM_S = 3600


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Answer until the process is ended; CannotServe when the address cannot be listened on."""
    server = socketio.AsyncServer(
        async_mode="asgi",
        ping_interval=_SELDOM_S,
        ping_timeout=_SELDOM_S,
        max_http_buffer_size=MAX_MESSAGE_BYTES,
        http_compression=False,
    )
    peers: dict[str, Peer] = {}

    # A polling client sends from several connections; its session counts as the one that opened it.
    async def connected(session: str, environ: dict[str, Any]) -> None:
        peers[session] = tuple(environ["asgi.scope"]["client"])

    async def disconnected(session: str, _reason: str) -> None:
        peers.pop(session, None)

    server.on("connect", connected)
    server.on("disconnect", disconnected)
    for operation in (*PROTOCOL.operations, "identity"):
        if operation in OPERATIONS and OPERATIONS[operation].kind == "stream":
            server.on(operation, _stream_handler(dispatcher, operation, peers, server))
        else:
            server.on(operation, _handler(dispatcher, operation, peers))
    application = socketio.ASGIApp(server)
    asgi.serve(application, dispatcher, host, port, announce, websocket=True)


Handler = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


def _handler(dispatcher: Dispatcher, operation: str, peers: dict[str, Peer]) -> Handler:
    async def handle(session: str, request: dict[str, Any]) -> dict[str, Any]:
        try:
            reply = dispatcher.answer_async(operation, request, peers[session])
            return reply if isinstance(reply, dict) else await reply
        except KeyError as error:
            return {"error": f"{operation}: the request lacks {error}"}
        except ValueError as error:
            return {"error": f"{operation}: {error}"}

    return handle


def _stream_handler(dispatcher: Dispatcher, operation: str, peers: dict[str, Peer], server: Any) -> Handler:
    """Emits a subscription's events, and acknowledges it behind the last one.

    The library queues what a connection has not taken, without a bound, and does not tell: no reader holds its sender back.
    """

    async def handle(session: str, request: dict[str, Any]) -> dict[str, Any]:
        try:
            outgoing = dispatcher.subscribe(operation, request, peers[session])
        except KeyError as error:
            return {"error": f"{operation}: the request lacks {error}"}
        except (AttributeError, ValueError) as error:
            return {"error": f"{operation}: {error}"}
        try:
            async with aclosing(outgoing.awaited()) as events:
                async for event in events:
                    if session not in peers:
                        break
                    await server.emit(operation, event, to=session)
        except ValueError as error:
            return {"error": f"{operation}: {error}"}
        return {"end": True}

    return handle
