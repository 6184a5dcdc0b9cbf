"""REST answered by Starlette alone, which FastAPI is built on: the same paths and bodies, without pydantic's models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.python.codecs.base import expect_mapping
from services.python.codecs.json import as_bytes, as_text, bytes_of
from services.python.contract.messages import ECHO, IMAGE, TRANSFER, Message
from services.python.operations import OPERATIONS
from services.python.protocols.rest import PROTOCOL
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of
from services.python.transports.http.route import OCTETS

Endpoint = Callable[[Request], Awaitable[Response]]


def application(dispatcher: Dispatcher) -> Starlette:
    """The Starlette application."""

    async def identity(request: Request) -> Response:
        return JSONResponse(dispatcher.answer("identity", {}, peer_of(request.scope)))

    endpoints: dict[str, Endpoint] = {"/identity": identity}
    for operation in OPERATIONS.values():
        if PROTOCOL.carries(operation.message):
            endpoints |= _endpoints(dispatcher, operation.name, operation.message)
    return Starlette(
        routes=[Route(path, endpoint, methods=["POST"]) for path, endpoint in endpoints.items()],
        exception_handlers={KeyError: _unanswerable, ValueError: _unanswerable},
    )


def _endpoints(dispatcher: Dispatcher, operation: str, message: Message) -> dict[str, Endpoint]:
    """What answers an operation, by its paths."""
    if message.name == IMAGE.name:
        return {f"/{operation}": _image(dispatcher, operation)}
    if message.name == TRANSFER.name:
        return {f"/{operation}": _transfer(dispatcher, operation)}
    if message.name == ECHO.name:
        return {
            f"/{operation}/data": _echo_data(dispatcher, operation),
            f"/{operation}/records": _echo_json(dispatcher, operation, "records"),
            f"/{operation}/document": _echo_json(dispatcher, operation, "document"),
        }
    return {f"/{operation}": _object(dispatcher, operation, message)}


def _object(dispatcher: Dispatcher, operation: str, message: Message) -> Endpoint:
    bytes_asked, bytes_answered = bytes_of(message.request), bytes_of(message.reply)

    async def endpoint(request: Request) -> Response:
        fields = expect_mapping(await request.json())
        if bytes_asked:
            fields = as_bytes(fields, bytes_asked)
        reply = dispatcher.answer_async(operation, fields, peer_of(request.scope))
        if not isinstance(reply, dict):
            reply = await reply
        return JSONResponse(as_text(reply, bytes_answered) if bytes_answered else reply)

    return endpoint


def _echo_data(dispatcher: Dispatcher, operation: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        reply = dispatcher.answer_async(operation, {"data": await request.body()}, peer_of(request.scope))
        if not isinstance(reply, dict):
            reply = await reply
        return Response(reply["data"], media_type=OCTETS)

    return endpoint


def _echo_json(dispatcher: Dispatcher, operation: str, form: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        reply = dispatcher.answer_async(operation, {form: await request.json()}, peer_of(request.scope))
        if not isinstance(reply, dict):
            reply = await reply
        return JSONResponse(reply[form])

    return endpoint


def _image(dispatcher: Dispatcher, operation: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        full_decode = request.query_params.get("full_decode") == "true"
        picture = {"data": await request.body(), "full_decode": full_decode}
        reply = dispatcher.answer_async(operation, picture, peer_of(request.scope))
        return JSONResponse(reply if isinstance(reply, dict) else await reply)

    return endpoint


def _transfer(dispatcher: Dispatcher, operation: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        asked = {"data": await request.body(), "reply_size": int(request.query_params["reply_size"])}
        reply = dispatcher.answer_async(operation, asked, peer_of(request.scope))
        if not isinstance(reply, dict):
            reply = await reply
        return Response(reply["data"], media_type=OCTETS)

    return endpoint


async def _unanswerable(_request: Request, error: Exception) -> Response:
    return JSONResponse({"detail": f"{type(error).__name__}: {error}"}, status_code=400)
