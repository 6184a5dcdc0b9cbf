"""What a subscription and its events look like on the wire (`protos/http.md`): both ends' part of text/event-stream.

An event is one line `data: ` with a JSON object, and an empty line. Lines end with a line feed. An object with `error` is no
event: it says why there is no further one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from services.python.codecs.base import expect_mapping
from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.load.client import CallFailed

MEDIA_TYPE = "text/event-stream"

_END = b"\n\n"
_FIELD = b"data: "
_SHOWN_BYTES = 200
_ERROR = "error"

_to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def encode(event: Mapping[str, Any]) -> bytes:
    """An event as it stands in the body."""
    return b"data: %b\n\n" % _to_json(event).encode()


def encode_error(error: ValueError) -> bytes:
    """Why a stream that has begun does not go on, in the place of its next event."""
    return encode({_ERROR: str(error)})


def query_of(request: Mapping[str, Any]) -> str:
    """A subscription as the query of its URL."""
    return urlencode(request)


def read_query(query: str) -> dict[str, Any]:
    """A subscription's fields; ValueError where a value is no whole number."""
    return {name: int(value) for name, value in parse_qsl(query, keep_blank_values=True)}


class Reader:
    """Splits a body into events as it comes in. What comes is looked at once, however many parts an event comes in."""

    def __init__(self, most_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._data = bytearray()
        self._at = 0
        self._looked = 0  # no event ends before here
        self._most_bytes = most_bytes

    def feed(self, data: bytes) -> None:
        """Take in a part of the body. CallFailed `undecodable` for an event above the bound on messages."""
        del self._data[: self._at]
        self._at = 0
        if len(self._data) > self._most_bytes:
            raise CallFailed("undecodable", f"an event of more than {self._most_bytes:,} bytes")
        self._looked = max(0, len(self._data) - len(_END) + 1)
        self._data += data

    def next(self) -> tuple[dict[str, Any], int] | None:
        """The next whole event, decoded, and its bytes; None where more of the body is needed.

        CallFailed `undecodable`, or `protocol` where the responder says why there is no more.
        """
        end = self._data.find(_END, max(self._at, self._looked))
        if end < 0:
            return None
        block = bytes(self._data[self._at : end])
        self._at = end + len(_END)
        if not block.startswith(_FIELD):
            raise CallFailed("undecodable", f"not an event: {block[:_SHOWN_BYTES]!r}")
        try:
            fields = expect_mapping(json.loads(block[len(_FIELD) :]))
        except (ValueError, RecursionError) as error:
            raise CallFailed("undecodable", f"{error} in {block[:_SHOWN_BYTES]!r}") from error
        if _ERROR in fields:
            raise CallFailed("protocol", str(fields[_ERROR]))
        return fields, len(block) + len(_END)

    @property
    def is_within(self) -> bool:
        """Whether the body so far ends in the middle of an event."""
        return self._at < len(self._data)
