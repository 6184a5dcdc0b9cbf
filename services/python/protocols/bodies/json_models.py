"""JSON answered by FastAPI with a pydantic model for each message; without them it is the framework `fastapi`."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel

from services.python.contract.messages import ECHO, IMAGE, Message
from services.python.operations import OPERATIONS
from services.python.protocols.bodies import protocol
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of
from services.python.transports.http.models import Identity, ImageReply, Record, add_object_route


class EchoData(BaseModel):
    """Bytes, in base64."""

    data: str


class EchoRecords(BaseModel):
    """Records."""

    records: list[Record]


class EchoDocument(BaseModel):
    """Any JSON value."""

    document: Any


class ImageRequest(BaseModel):
    """A picture, in base64."""

    data: str
    full_decode: bool


def application(dispatcher: Dispatcher) -> FastAPI:
    """The FastAPI application."""
    app = FastAPI()

    @app.post("/identity")
    async def identity(request: Request) -> Identity:
        return Identity(**dispatcher.answer("identity", {}, peer_of(request.scope)))

    json = protocol("http+json")
    for operation in OPERATIONS.values():
        if json.carries(operation.message):
            add = _ROUTES.get(operation.message.name, add_object_route)
            add(app, dispatcher, operation.name, operation.message)
    return app


def _add_echo(app: FastAPI, dispatcher: Dispatcher, operation: str, _message: Message) -> None:
    @app.post(f"/{operation}/data")
    async def echo_data(echo: EchoData, request: Request) -> EchoData:
        reply = dispatcher.answer_async(operation, {"data": _bytes(echo.data)}, peer_of(request.scope))
        if not isinstance(reply, dict):
            reply = await reply
        return EchoData(data=b64encode(reply["data"]).decode())

    @app.post(f"/{operation}/records")
    async def echo_records(echo: EchoRecords, request: Request) -> EchoRecords:
        reply = dispatcher.answer_async(operation, {"records": echo.records}, peer_of(request.scope))
        return EchoRecords(records=(reply if isinstance(reply, dict) else await reply)["records"])

    @app.post(f"/{operation}/document")
    async def echo_document(echo: EchoDocument, request: Request) -> EchoDocument:
        reply = dispatcher.answer_async(operation, {"document": echo.document}, peer_of(request.scope))
        return EchoDocument(document=(reply if isinstance(reply, dict) else await reply)["document"])


def _add_image(app: FastAPI, dispatcher: Dispatcher, operation: str, _message: Message) -> None:
    @app.post(f"/{operation}")
    async def image(picture: ImageRequest, request: Request) -> ImageReply:
        asked = {"data": _bytes(picture.data), "full_decode": picture.full_decode}
        try:
            reply = dispatcher.answer_async(operation, asked, peer_of(request.scope))
            return ImageReply(**(reply if isinstance(reply, dict) else await reply))
        except ValueError as error:
            raise HTTPException(400, str(error)) from error


_ROUTES = {ECHO.name: _add_echo, IMAGE.name: _add_image}


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError as error:
        raise HTTPException(400, f"not base64: {error}") from error
