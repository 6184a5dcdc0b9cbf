"""The responder of every protocol of `binary`: FastAPI routes that take and give raw bodies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, HTTPException, Request, Response

from services.harness.desk import Desk
from services.http.asgi import answer, peer_of
from services.http.binary import MESSAGES, BinaryCodec

Handler = Callable[[Request], Awaitable[Response]]


def application(desk: Desk, codec: BinaryCodec) -> FastAPI:
    """The FastAPI application: one path for each message."""
    app = FastAPI()
    for message in MESSAGES:
        app.post(f"/{message}")(_handler(desk, codec, message))
    return app


def _handler(desk: Desk, codec: BinaryCodec, message: str) -> Handler:
    operation = message.partition("/")[0]
    read, write = codec.request(message).read, codec.reply(message).write

    async def handle(request: Request) -> Response:
        body = await request.body()
        try:
            asked = read(body)
        except codec.errors as error:
            raise HTTPException(400, f"not a request of {message}: {error}") from error
        try:
            reply = await answer(desk, operation, asked, peer_of(request.scope))
        except (KeyError, ValueError) as error:
            raise HTTPException(400, f"{type(error).__name__}: {error}") from error
        return Response(write(reply), media_type=codec.media_type)

    return handle
