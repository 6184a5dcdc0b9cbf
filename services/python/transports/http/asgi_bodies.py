"""The protocols of `bodies` answered by a bare ASGI application: nothing stands between the server and the codec."""

from __future__ import annotations

from typing import Any

from services.python.codecs.base import Codec
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce, Serve
from services.python.transports.http.asgi import peer_of, serve_asgi
from services.python.transports.http.granian import serve_granian

_TEXT = "text/plain; charset=utf-8"


def serving(codec: Codec) -> Serve:
    """The `serve` of a responder module that answers with this codec."""

    def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
        serve_asgi(application(dispatcher, codec), host, port, announce, knobs=dispatcher.knobs, tls=dispatcher.tls)

    return serve


def serving_on_granian(codec: Codec) -> Serve:
    """The same, with granian as the server."""

    def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
        serve_granian(application(dispatcher, codec), host, port, announce, knobs=dispatcher.knobs, tls=dispatcher.tls)

    return serve


def application(dispatcher: Dispatcher, codec: Codec) -> Any:
    """The ASGI application: one path for each message."""
    messages = {
        f"/{path}": (operation, codec.request(message).read, codec.reply(message).write)
        for path, (operation, message) in codec.carried().items()
    }

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        body = await whole(receive)
        if scope["path"] not in messages:
            await respond(send, 404, _TEXT, b"no such message")
            return
        if scope["method"] != "POST":
            await respond(send, 405, _TEXT, b"a message is posted")
            return
        operation, read, write = messages[scope["path"]]
        try:
            asked = read(body)
        except codec.errors as error:
            await respond(send, 400, _TEXT, f"not a request of {scope['path'][1:]}: {error}".encode())
            return
        try:
            reply = dispatcher.answer_async(operation, asked, peer_of(scope))
            if not isinstance(reply, dict):
                reply = await reply
        except (KeyError, ValueError) as error:
            await respond(send, 400, _TEXT, f"{type(error).__name__}: {error}".encode())
            return
        await respond(send, 200, codec.media_type, write(reply))

    return app


async def whole(receive: Any) -> bytes:
    """The request's body; most come in one piece, which is handed on as it is."""
    event = await receive()
    if not event.get("more_body"):
        body: bytes = event.get("body", b"")
        return body
    pieces = [event["body"]]
    while event.get("more_body"):
        event = await receive()
        pieces.append(event.get("body", b""))
    return b"".join(pieces)


async def respond(send: Any, status: int, media_type: str, body: bytes, *also: tuple[bytes, bytes]) -> None:
    """One whole reply; `also` are further header fields."""
    headers = [(b"content-type", media_type.encode()), (b"content-length", str(len(body)).encode()), *also]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
