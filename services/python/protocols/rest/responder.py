"""REST answered by FastAPI, as its documentation would have one write it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, FastAPI, HTTPException, Request, Response

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
    async def echo_data(request: Request) -> Response:
        reply = dispatcher.answer("echo", {"data": await request.body()}, peer_of(request.scope))
        return Response(reply["data"], media_type="application/octet-stream")

    @app.post("/echo/records")
    async def echo_records(records: list[Record], request: Request) -> list[Record]:
        echoed: list[Record] = dispatcher.answer("echo", {"records": records}, peer_of(request.scope))["records"]
        return echoed

    @app.post("/echo/document")
    async def echo_document(request: Request, document: Annotated[Any, Body()] = None) -> Any:
        return dispatcher.answer("echo", {"document": document}, peer_of(request.scope))["document"]

    @app.post("/image")
    async def image(request: Request, full_decode: bool = False) -> ImageReply:
        picture = {"data": await request.body(), "full_decode": full_decode}
        try:
            reply = dispatcher.answer_async("image", picture, peer_of(request.scope))
            return ImageReply(**(reply if isinstance(reply, dict) else await reply))
        except ValueError as error:
            raise HTTPException(400, str(error)) from error

    return app
