"""Starlette alone, which FastAPI is built on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of
from services.python.transports.http.paths import Path, Paths, refusal

Endpoint = Callable[[Request], Awaitable[Response]]


def application(dispatcher: Dispatcher, paths: Paths) -> Starlette:
    """The Starlette application: a route for each path."""
    return Starlette(routes=[Route(name, endpoint(dispatcher, path), methods=["POST"]) for name, path in paths.items()])


def endpoint(dispatcher: Dispatcher, path: Path) -> Endpoint:
    """What answers at a path."""
    operation, read, write, media_type, errors = path.operation, path.read, path.write, path.media_type, path.errors

    async def answered(request: Request) -> Response:
        body = await request.body()
        try:
            reply = dispatcher.answer_async(
                operation, read(body, request.scope["query_string"]), peer_of(request.scope)
            )
            if not isinstance(reply, dict):
                reply = await reply
        except errors as error:
            return PlainTextResponse(refusal(error), 400)
        return Response(write(reply), media_type=media_type)

    return answered
