"""Answers over WebSocket, as a bare ASGI application on uvicorn."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from services.python.operations import OPERATIONS
from services.python.protocols.websocket import PROTOCOL, frames
from services.python.serve.dispatcher import Dispatcher, Peer
from services.python.serve.responder import Announce
from services.python.serve.streams import Outgoing
from services.python.transports.http import asgi

_STREAMS = {name for name, operation in OPERATIONS.items() if operation.kind == "stream"}


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Answer until the process is ended; CannotServe when the address cannot be listened on."""
    readings = {f"/{operation}": frames.reading(operation) for operation in (*PROTOCOL.operations, "identity")}

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 426, "headers": [(b"upgrade", b"websocket")]})
            await send({"type": "http.response.body", "body": b"this responder speaks WebSocket alone"})
        elif scope["path"] not in readings:
            await send({"type": "websocket.close"})
        else:
            await receive()
            await send({"type": "websocket.accept"})
            await _converse(dispatcher, readings[scope["path"]], scope, receive, send)

    asgi.serve(application, dispatcher, host, port, announce, websocket=True)


async def _converse(
    dispatcher: Dispatcher, reading: frames.Reading, scope: dict[str, Any], receive: Any, send: Any
) -> None:
    operation: str = scope["path"][1:]
    query = scope["query_string"].decode("latin-1")
    peer: Peer = tuple(scope["client"])
    while (event := await receive())["type"] == "websocket.receive":
        # An ASGI server may leave out whichever of the two it has not got, or set it to None.
        text = event.get("text")
        frame: frames.Frame = event["bytes"] if text is None else text
        try:
            request = reading.read(frame, query)
            if operation in _STREAMS:
                if not await _send_events(dispatcher.subscribe(operation, request, peer), send, reading):
                    return
                continue
            answered = dispatcher.answer_async(operation, request, peer)
            reply = reading.write(answered if isinstance(answered, dict) else await answered)
        except KeyError as error:
            reply = frames.error_frame(f"{operation}: the request lacks {error}")
        except ValueError as error:
            reply = frames.error_frame(f"{operation}: {error}")
        await send({"type": "websocket.send", "bytes" if isinstance(reply, bytes) else "text": reply})


async def _send_events(outgoing: Outgoing, send: Any, reading: frames.Reading) -> bool:
    """Send a subscription's events and the frame that ends them, each when the connection took the one before.

    Whether the client is still there.
    """
    try:
        async with aclosing(outgoing.awaited()) as events:
            async for event in events:
                await send({"type": "websocket.send", "text": reading.write(event)})
        await send({"type": "websocket.send", "text": frames.END})
    except OSError:  # so uvicorn says that the client has left
        return False
    return True
