"""What a subscription and its events look like on the wire (`protos/http.md`): both ends' part of text/event-stream.

An event is one line `data: ` with a JSON object, and an empty line. Lines end with a line feed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from services.python.codecs.base import expect_mapping
from services.python.load.client import CallFailed

MEDIA_TYPE = "text/event-stream"
HEADERS: Mapping[str, str] = {"content-type": MEDIA_TYPE, "cache-control": "no-store"}

_END = b"\n\n"
_FIELD = b"data: "
_SHOWN_BYTES = 200

_to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def encode(event: Mapping[str, Any]) -> bytes:
    """An event as it stands in the body."""
    return b"data: %b\n\n" % _to_json(event).encode()


def query_of(request: Mapping[str, Any]) -> str:
    """A subscription as the query of its URL."""
    return urlencode(request)


def read_query(query: str) -> dict[str, Any]:
    """A subscription's fields; ValueError where a value is no whole number."""
    return {name: int(value) for name, value in parse_qsl(query, keep_blank_values=True)}


class Reader:
    """Splits a body into events as it comes in."""

    def __init__(self) -> None:
        self._data = b""
        self._at = 0

    def feed(self, data: bytes) -> None:
        """Take in a part of the body."""
        self._data = self._data[self._at :] + data
        self._at = 0

    def next(self) -> tuple[dict[str, Any], int] | None:
        """The next whole event, decoded, and its bytes; None where more of the body is needed. CallFailed `undecodable`."""
        end = self._data.find(_END, self._at)
        if end < 0:
            return None
        block = self._data[self._at : end]
        self._at = end + len(_END)
        if not block.startswith(_FIELD):
            raise CallFailed("undecodable", f"not an event: {block[:_SHOWN_BYTES]!r}")
        try:
            return expect_mapping(json.loads(block[len(_FIELD) :])), len(block) + len(_END)
        except ValueError as error:
            raise CallFailed("undecodable", f"{error} in {block[:_SHOWN_BYTES]!r}") from error

    @property
    def is_within(self) -> bool:
        """Whether the body so far ends in the middle of an event."""
        return self._at < len(self._data)
