"""REST answered by Starlette alone, which FastAPI is built on: the same paths and bodies, without pydantic's models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.python.codecs.base import expect_mapping
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.asgi import peer_of, serve_asgi
from services.python.transports.http.route import OCTETS

Endpoint = Callable[[Request], Awaitable[Response]]


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    serve_asgi(application(dispatcher), host, port, announce, knobs=dispatcher.knobs)


def application(dispatcher: Dispatcher) -> Starlette:
    """The Starlette application."""

    async def identity(request: Request) -> Response:
        return JSONResponse(dispatcher.answer("identity", {}, peer_of(request.scope)))

    async def echo_data(request: Request) -> Response:
        reply = dispatcher.answer("echo", {"data": await request.body()}, peer_of(request.scope))
        return Response(reply["data"], media_type=OCTETS)

    async def image(request: Request) -> Response:
        full_decode = request.query_params.get("full_decode") == "true"
        picture = {"data": await request.body(), "full_decode": full_decode}
        reply = dispatcher.answer_async("image", picture, peer_of(request.scope))
        return JSONResponse(reply if isinstance(reply, dict) else await reply)

    def fields_of(operation: str) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            fields = expect_mapping(await request.json())
            return JSONResponse(dispatcher.answer(operation, fields, peer_of(request.scope)))

        return endpoint

    def echo_json(form: str) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            reply = dispatcher.answer("echo", {form: await request.json()}, peer_of(request.scope))
            return JSONResponse(reply[form])

        return endpoint

    endpoints: dict[str, Endpoint] = {
        "/identity": identity,
        "/timestamp": fields_of("timestamp"),
        "/add": fields_of("add"),
        "/echo/data": echo_data,
        "/echo/records": echo_json("records"),
        "/echo/document": echo_json("document"),
        "/image": image,
    }
    return Starlette(
        routes=[Route(path, endpoint, methods=["POST"]) for path, endpoint in endpoints.items()],
        exception_handlers={KeyError: _unanswerable, ValueError: _unanswerable},
    )


async def _unanswerable(_request: Request, error: Exception) -> Response:
    return JSONResponse({"detail": f"{type(error).__name__}: {error}"}, status_code=400)
