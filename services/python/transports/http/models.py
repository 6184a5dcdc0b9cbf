"""pydantic models of the messages that look alike in every JSON protocol answered by FastAPI with models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, create_model

from services.python.contract.messages import ADD, TIMESTAMP, Field, Message, capitals


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
