"""REST answered by FastAPI, as its documentation would have one write it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, FastAPI, HTTPException, Request, Response
from pydantic import BaseModel

from services.harness.desk import Desk
from services.harness.responder_api import Announce
from services.http.asgi import answer, peer_of, serve_asgi


class Identity(BaseModel):
    """Who answered."""

    identity: str


class TimestampRequest(BaseModel):
    """The requester's stamp."""

    request_timestamp: str


class TimestampReply(BaseModel):
    """Both ends' stamps."""

    request_timestamp: str
    response_timestamp: str


class AddRequest(BaseModel):
    """Two numbers."""

    a: int
    b: int


class AddReply(BaseModel):
    """Their sum."""

    sum: int


class Record(BaseModel):
    """One record of an echo."""

    id: int
    name: str
    value: float
    active: bool
    tags: list[str]


class ImageReply(BaseModel):
    """A picture's size in pixels."""

    width: int
    height: int


def serve(desk: Desk, host: str, port: int, announce: Announce) -> None:
    """See `responder_api.Serve`."""
    serve_asgi(application(desk), host, port, announce)


def application(desk: Desk) -> FastAPI:
    """The FastAPI application."""
    app = FastAPI()

    @app.post("/identity")
    async def identity(request: Request) -> Identity:
        return Identity(**desk.answer("identity", {}, peer_of(request.scope)))

    @app.post("/timestamp")
    async def timestamp(stamp: TimestampRequest, request: Request) -> TimestampReply:
        return TimestampReply(**desk.answer("timestamp", stamp.model_dump(), peer_of(request.scope)))

    @app.post("/add")
    async def add(numbers: AddRequest, request: Request) -> AddReply:
        return AddReply(**desk.answer("add", numbers.model_dump(), peer_of(request.scope)))

    @app.post("/echo/data")
    async def echo_data(request: Request) -> Response:
        reply = desk.answer("echo", {"data": await request.body()}, peer_of(request.scope))
        return Response(reply["data"], media_type="application/octet-stream")

    @app.post("/echo/records")
    async def echo_records(records: list[Record], request: Request) -> list[Record]:
        echoed: list[Record] = desk.answer("echo", {"records": records}, peer_of(request.scope))["records"]
        return echoed

    @app.post("/echo/document")
    async def echo_document(request: Request, document: Annotated[Any, Body()] = None) -> Any:
        return desk.answer("echo", {"document": document}, peer_of(request.scope))["document"]

    @app.post("/image")
    async def image(request: Request, full_decode: bool = False) -> ImageReply:
        picture = {"data": await request.body(), "full_decode": full_decode}
        try:
            return ImageReply(**await answer(desk, "image", picture, peer_of(request.scope)))
        except ValueError as error:
            raise HTTPException(400, str(error)) from error

    return app
