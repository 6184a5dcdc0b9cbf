"""pydantic models of the messages that look alike in every JSON protocol answered by FastAPI with models."""

from __future__ import annotations

from pydantic import BaseModel


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
