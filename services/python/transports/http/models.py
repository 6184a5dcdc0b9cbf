"""pydantic models of the messages that look alike in every JSON protocol, and FastAPI's routes for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel, create_model

from services.python.codecs.json import as_bytes, as_text, bytes_of
from services.python.contract.messages import ROWS, Field, Message, capitals
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of


class Identity(BaseModel):
    """Who answered."""

    identity: str


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


_TYPES: Mapping[Field, Any] = {
    "text": str,
    "integer": int,
    "long": int,
    "number": float,
    "flag": bool,
    "bytes": str,
    "records": list[Record],
    "document": Any,
}


def models_of(message: Message) -> tuple[type[BaseModel], type[BaseModel]]:
    """The models of a message's request and reply, made from its fields; bytes are base64."""
    name = capitals(message.name.replace("/", "_"))
    return _model(f"{name}Request", message.request), _model(f"{name}Reply", message.reply)


def _model(name: str, fields: Mapping[str, Field]) -> type[BaseModel]:
    keys: dict[str, Any] = {
        key: (list[_model(f"{name}{capitals(key)}", ROWS[kind])] if kind in ROWS else _TYPES[kind], ...)  # type: ignore[misc]
        for key, kind in fields.items()
    }
    return create_model(name, **keys)


def add_object_route(app: FastAPI, dispatcher: Dispatcher, operation: str, message: Message, path: str = "") -> None:
    """Answer an operation at a path, of its name unless another is given; bytes are base64."""
    request_model, answered = models_of(message)
    bytes_asked, bytes_answered = bytes_of(message.request), bytes_of(message.reply)

    async def handle(fields: Any, request: Request) -> Any:
        values = fields.model_dump()
        try:
            if bytes_asked:
                values = as_bytes(values, bytes_asked)
            reply = dispatcher.answer_async(operation, values, peer_of(request.scope))
            if not isinstance(reply, dict):
                reply = await reply
        except ValueError as error:
            raise HTTPException(400, str(error)) from error
        return answered(**(as_text(reply, bytes_answered) if bytes_answered else reply))

    handle.__annotations__ = {"fields": request_model, "request": Request, "return": answered}
    app.post(f"/{path or operation}")(handle)
