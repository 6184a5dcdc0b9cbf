"""The protocols of `bodies` answered by FastAPI: routes that take and give raw bodies, without models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, HTTPException, Request, Response

from services.python.codecs.base import Codec
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of

Handler = Callable[[Request], Awaitable[Response]]


def application(dispatcher: Dispatcher, codec: Codec) -> FastAPI:
    """The FastAPI application: one path for each message."""
    app = FastAPI()
    for path, (operation, message) in codec.carried().items():
        app.post(f"/{path}")(_handler(dispatcher, codec, operation, message))
    return app


def _handler(dispatcher: Dispatcher, codec: Codec, operation: str, message: str) -> Handler:
    read, write = codec.request(message).read, codec.reply(message).write

    async def handle(request: Request) -> Response:
        body = await request.body()
        try:
            asked = read(body)
        except codec.errors as error:
            raise HTTPException(400, f"not a request of {message}: {error}") from error
        try:
            reply = dispatcher.answer_async(operation, asked, peer_of(request.scope))
            if not isinstance(reply, dict):
                reply = await reply
        except (KeyError, ValueError) as error:
            raise HTTPException(400, f"{type(error).__name__}: {error}") from error
        return Response(write(reply), media_type=codec.media_type)

    return handle
