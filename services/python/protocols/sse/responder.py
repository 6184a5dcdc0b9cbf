"""Sends events over HTTP/1.1, as a bare ASGI application on uvicorn."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

from services.python.operations import OPERATIONS
from services.python.protocols.sse import stream
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.streams import Outgoing
from services.python.transports.http.asgi import peer_of, respond

_STREAMS = {f"/{name}": name for name, operation in OPERATIONS.items() if operation.kind == "stream"}
_NOT_KEPT = (b"cache-control", b"no-store")
_HEADERS = [(b"content-type", stream.MEDIA_TYPE.encode()), _NOT_KEPT]
_WORDS = "text/plain; charset=utf-8"


def application(dispatcher: Dispatcher) -> Any:
    """The ASGI application."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["path"] == "/identity":
            who = dispatcher.answer("identity", {}, peer_of(scope))
            await respond(send, 200, stream.MEDIA_TYPE, stream.encode(who), _NOT_KEPT)
            return
        if scope["path"] not in _STREAMS:
            await respond(send, 404, _WORDS, b"there is no such stream")
            return
        try:
            request = stream.read_query(scope["query_string"].decode())
            outgoing = dispatcher.subscribe(_STREAMS[scope["path"]], request, peer_of(scope))
        except ValueError as error:
            await respond(send, 400, _WORDS, str(error).encode())
            return
        await _send_events(outgoing, receive, send)

    return app


async def _send_events(outgoing: Outgoing, receive: Any, send: Any) -> None:
    """The body, an event at a time, until the last one or until the client leaves, which `send` does not tell."""
    leaving = asyncio.create_task(_left(receive))
    try:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        try:
            async with aclosing(outgoing.awaited()) as events:
                async for event in events:
                    if leaving.done():
                        return
                    await send({"type": "http.response.body", "body": stream.encode(event), "more_body": True})
        except ValueError as error:
            await send({"type": "http.response.body", "body": stream.encode_error(error), "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        leaving.cancel()


async def _left(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
