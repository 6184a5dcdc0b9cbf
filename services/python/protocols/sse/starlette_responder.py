"""Sends events over HTTP/1.1 with Starlette's streaming response."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from services.python.operations import OPERATIONS
from services.python.protocols.sse import stream
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.streams import Outgoing
from services.python.transports.http.asgi import peer_of


def application(dispatcher: Dispatcher) -> Starlette:
    """The Starlette application."""
    streams = [name for name, operation in OPERATIONS.items() if operation.kind == "stream"]

    async def identity(request: Request) -> Response:
        who = dispatcher.answer("identity", {}, peer_of(request.scope))
        return Response(stream.encode(who), headers=dict(stream.HEADERS))

    routes = [Route("/identity", identity), *(Route(f"/{name}", _endpoint(dispatcher, name)) for name in streams)]
    return Starlette(routes=routes)


def _endpoint(dispatcher: Dispatcher, operation: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            query = stream.read_query(request.url.query)
            outgoing = dispatcher.subscribe(operation, query, peer_of(request.scope))
        except ValueError as error:
            return PlainTextResponse(str(error), 400)
        return StreamingResponse(_body(outgoing), headers=dict(stream.HEADERS))

    return endpoint


async def _body(outgoing: Outgoing) -> AsyncIterator[bytes]:
    try:
        async with aclosing(outgoing.awaited()) as events:
            async for event in events:
                yield stream.encode(event)
    except ValueError as error:
        yield stream.encode_error(error)
