"""REST answered by FastAPI, as its documentation would have one write it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, FastAPI, HTTPException, Request, Response

from services.python.contract.messages import ECHO, IMAGE, TRANSFER, Message
from services.python.operations import OPERATIONS
from services.python.protocols.rest import PROTOCOL
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of
from services.python.transports.http.models import Identity, ImageReply, Record, add_object_route


def application(dispatcher: Dispatcher) -> FastAPI:
    """The FastAPI application."""
    app = FastAPI()

    @app.post("/identity")
    async def identity(request: Request) -> Identity:
        return Identity(**dispatcher.answer("identity", {}, peer_of(request.scope)))

    for operation in OPERATIONS.values():
        if PROTOCOL.carries(operation.message):
            add = _ROUTES.get(operation.message.name, add_object_route)
            add(app, dispatcher, operation.name, operation.message)
    return app


def _add_echo(app: FastAPI, dispatcher: Dispatcher, operation: str, _message: Message) -> None:
    @app.post(f"/{operation}/data")
    async def echo_data(request: Request) -> Response:
        reply = dispatcher.answer_async(operation, {"data": await request.body()}, peer_of(request.scope))
        if not isinstance(reply, dict):
            reply = await reply
        return Response(reply["data"], media_type="application/octet-stream")

    @app.post(f"/{operation}/records")
    async def echo_records(records: list[Record], request: Request) -> list[Record]:
        reply = dispatcher.answer_async(operation, {"records": records}, peer_of(request.scope))
        if not isinstance(reply, dict):
            reply = await reply
        echoed: list[Record] = reply["records"]
        return echoed

    @app.post(f"/{operation}/document")
    async def echo_document(request: Request, document: Annotated[Any, Body()] = None) -> Any:
        reply = dispatcher.answer_async(operation, {"document": document}, peer_of(request.scope))
        if not isinstance(reply, dict):
            reply = await reply
        return reply["document"]


def _add_image(app: FastAPI, dispatcher: Dispatcher, operation: str, _message: Message) -> None:
    @app.post(f"/{operation}")
    async def image(request: Request, full_decode: bool = False) -> ImageReply:
        picture = {"data": await request.body(), "full_decode": full_decode}
        try:
            reply = dispatcher.answer_async(operation, picture, peer_of(request.scope))
            return ImageReply(**(reply if isinstance(reply, dict) else await reply))
        except ValueError as error:
            raise HTTPException(400, str(error)) from error


def _add_transfer(app: FastAPI, dispatcher: Dispatcher, operation: str, _message: Message) -> None:
    @app.post(f"/{operation}")
    async def transfer(request: Request, reply_size: int) -> Response:
        sized = {"data": await request.body(), "reply_size": reply_size}
        try:
            reply = dispatcher.answer_async(operation, sized, peer_of(request.scope))
            if not isinstance(reply, dict):
                reply = await reply
        except ValueError as error:
            raise HTTPException(400, str(error)) from error
        return Response(reply["data"], media_type="application/octet-stream")


_ROUTES = {ECHO.name: _add_echo, IMAGE.name: _add_image, TRANSFER.name: _add_transfer}
