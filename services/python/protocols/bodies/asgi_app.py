"""The protocols of `bodies` answered by a bare ASGI application: nothing stands between the server and the codec."""

from __future__ import annotations

from typing import Any

from services.python.codecs.base import Codec
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of, respond, whole

_TEXT = "text/plain; charset=utf-8"


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
