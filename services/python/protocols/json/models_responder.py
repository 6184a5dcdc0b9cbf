"""JSON answered by FastAPI with a pydantic model for each message; `json.responder` is the same without models."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel

from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.asgi import peer_of, serve_asgi
from services.python.transports.http.models import (
    AddReply,
    AddRequest,
    Identity,
    ImageReply,
    Record,
    TimestampReply,
    TimestampRequest,
)


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


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    serve_asgi(application(dispatcher), host, port, announce, knobs=dispatcher.knobs)


def application(dispatcher: Dispatcher) -> FastAPI:
    """The FastAPI application."""
    app = FastAPI()

    @app.post("/identity")
    async def identity(request: Request) -> Identity:
        return Identity(**dispatcher.answer("identity", {}, peer_of(request.scope)))

    @app.post("/timestamp")
    async def timestamp(stamp: TimestampRequest, request: Request) -> TimestampReply:
        return TimestampReply(**dispatcher.answer("timestamp", stamp.model_dump(), peer_of(request.scope)))

    @app.post("/add")
    async def add(numbers: AddRequest, request: Request) -> AddReply:
        return AddReply(**dispatcher.answer("add", numbers.model_dump(), peer_of(request.scope)))

    @app.post("/echo/data")
    async def echo_data(echo: EchoData, request: Request) -> EchoData:
        reply = dispatcher.answer("echo", {"data": _bytes(echo.data)}, peer_of(request.scope))
        return EchoData(data=b64encode(reply["data"]).decode())

    @app.post("/echo/records")
    async def echo_records(echo: EchoRecords, request: Request) -> EchoRecords:
        reply = dispatcher.answer("echo", {"records": echo.records}, peer_of(request.scope))
        return EchoRecords(records=reply["records"])

    @app.post("/echo/document")
    async def echo_document(echo: EchoDocument, request: Request) -> EchoDocument:
        reply = dispatcher.answer("echo", {"document": echo.document}, peer_of(request.scope))
        return EchoDocument(document=reply["document"])

    @app.post("/image")
    async def image(picture: ImageRequest, request: Request) -> ImageReply:
        asked = {"data": _bytes(picture.data), "full_decode": picture.full_decode}
        try:
            reply = dispatcher.answer_async("image", asked, peer_of(request.scope))
            return ImageReply(**(reply if isinstance(reply, dict) else await reply))
        except ValueError as error:
            raise HTTPException(400, str(error)) from error

    return app


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError as error:
        raise HTTPException(400, f"not base64: {error}") from error
