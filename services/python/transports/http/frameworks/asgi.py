"""A bare ASGI application: only a table of paths lies between the server and the codec."""

from __future__ import annotations

from typing import Any

from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of, respond, whole
from services.python.transports.http.paths import Paths, refusal

_TEXT = "text/plain; charset=utf-8"


def application(dispatcher: Dispatcher, paths: Paths) -> Any:
    """The ASGI application."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        body = await whole(receive)
        path = paths.get(scope["path"])
        if path is None:
            await respond(send, 404, _TEXT, b"no such path")
            return
        if scope["method"] != "POST":
            await respond(send, 405, _TEXT, b"requests are posted")
            return
        try:
            reply = dispatcher.answer_async(path.operation, path.read(body, scope["query_string"]), peer_of(scope))
            if not isinstance(reply, dict):
                reply = await reply
        except path.errors as error:
            await respond(send, 400, _TEXT, refusal(error).encode())
            return
        await respond(send, 200, path.media_type, path.write(reply))

    return app
