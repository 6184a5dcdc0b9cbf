"""The protocols of `bodies` answered by Starlette alone, which FastAPI is built on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from services.python.codecs.base import Codec
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of

Endpoint = Callable[[Request], Awaitable[Response]]


def application(dispatcher: Dispatcher, codec: Codec) -> Starlette:
    """The Starlette application: one path for each message."""
    return Starlette(
        routes=[
            Route(f"/{path}", _endpoint(dispatcher, codec, operation, message), methods=["POST"])
            for path, (operation, message) in codec.carried().items()
        ]
    )


def _endpoint(dispatcher: Dispatcher, codec: Codec, operation: str, message: str) -> Endpoint:
    read, write = codec.request(message).read, codec.reply(message).write

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        try:
            asked = read(body)
        except codec.errors as error:
            return PlainTextResponse(f"not a request of {message}: {error}", 400)
        try:
            reply = dispatcher.answer_async(operation, asked, peer_of(request.scope))
            if not isinstance(reply, dict):
                reply = await reply
        except (KeyError, ValueError) as error:
            return PlainTextResponse(f"{type(error).__name__}: {error}", 400)
        return Response(write(reply), media_type=codec.media_type)

    return endpoint
