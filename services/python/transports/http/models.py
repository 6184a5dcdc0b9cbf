"""pydantic models of the messages that look alike in every JSON protocol, and FastAPI's routes for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel, create_model

from services.python.codecs.json import as_bytes, as_text, bytes_of
from services.python.contract.messages import ADD, TIMESTAMP, Field, Message, capitals
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of


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


class Account(BaseModel):
    """An account."""

    account: int
    owner: str
    balance: int


class Transaction(BaseModel):
    """A transaction."""

    number: int
    payer: int
    payee: int
    amount: int


class Post(BaseModel):
    """A user's post."""

    post: int
    author: int
    title: str
    text: str
    likes: int


class Comment(BaseModel):
    """A comment under a post."""

    comment: int
    post: int
    author: int
    text: str


class ImageReply(BaseModel):
    """A picture's size in pixels."""

    width: int
    height: int


_OWN: Mapping[str, tuple[type[BaseModel], type[BaseModel]]] = {
    TIMESTAMP.name: (TimestampRequest, TimestampReply),
    ADD.name: (AddRequest, AddReply),
}
_TYPES: Mapping[Field, Any] = {
    "text": str,
    "integer": int,
    "long": int,
    "number": float,
    "flag": bool,
    "bytes": str,
    "records": list[Record],
    "document": Any,
    "accounts": list[Account],
    "transactions": list[Transaction],
    "posts": list[Post],
    "comments": list[Comment],
}


def models_of(message: Message) -> tuple[type[BaseModel], type[BaseModel]]:
    """The models of a message's request and reply, made from its fields where none is written above; bytes are base64."""
    if message.name in _OWN:
        return _OWN[message.name]
    return _model(message, "Request", message.request), _model(message, "Reply", message.reply)


def _model(message: Message, which: str, fields: Mapping[str, Field]) -> type[BaseModel]:
    keys: dict[str, Any] = {name: (_TYPES[kind], ...) for name, kind in fields.items()}
    return create_model(f"{capitals(message.name)}{which}", **keys)


def add_object_route(app: FastAPI, dispatcher: Dispatcher, operation: str, message: Message) -> None:
    """Answer an operation at the path of its name; bytes are base64."""
    asked, answered = models_of(message)
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

    handle.__annotations__ = {"fields": asked, "request": Request, "return": answered}
    app.post(f"/{operation}")(handle)
