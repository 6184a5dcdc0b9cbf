"""How an operation looks in WebSocket frames.

The operation is the path that the connection was opened with. Bytes travel as a binary frame, everything else as a text
frame with one JSON object. What a picture's request says besides the picture stands in the connection's query.
A reply of `{"error": "..."}` tells why there is no other. A subscription's events are text frames, and `{"end": true}` is
the frame after the last one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from services.python.codecs.base import expect_mapping
from services.python.load.client import CallFailed, CallSpec, Event, Reply, Request
from services.python.transports.http.route import authority

Frame = str | bytes
Size = int | str
"""Bytes of a frame's payload; of a text that is not ASCII the text itself, as encoding it again takes its time."""

Exchange = tuple[Size, Size, Any]
"""What a client's `call` returns: the sizes of the frame sent and of that received, and what the latter decoded to.

Not the frames: replies may wait to be verified, and large buffers must not (`load.unverified`).
"""

FULL_DECODE = "full_decode=1"

_to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def url(call: CallSpec) -> str:
    """Where to connect for this operation."""
    query = f"?{FULL_DECODE}" if call.example.get("full_decode") else ""
    return f"ws://{authority(call.host, call.port)}/{call.operation}{query}"


def encoder(call: CallSpec) -> Callable[[Request], Frame]:
    """What turns this operation's requests into frames; CallFailed when JSON cannot carry the example."""
    encode = _binary if "data" in call.example else _to_json
    try:
        encode(call.example)
    except (ValueError, TypeError, RecursionError) as error:
        raise CallFailed("protocol", f"{call.operation} cannot be encoded as JSON: {error}") from error
    return encode


def _binary(request: Request) -> bytes:
    data: bytes = request["data"]
    return data


def decode_reply(frame: Frame) -> Any:
    """Bytes of a binary frame, the fields of a text frame; CallFailed `protocol` or `undecodable`."""
    if isinstance(frame, bytes):
        return frame
    try:
        fields = expect_mapping(json.loads(frame))
    except ValueError as error:
        raise CallFailed("undecodable", f"{error} in {frame[:200]!r}") from error
    if "error" in fields:
        raise CallFailed("protocol", str(fields["error"]))
    return fields


END = '{"end":true}'


def event(frame: Frame) -> tuple[Event, int] | None:
    """An event and its bytes; None for the frame that ends a stream. CallFailed as `decode_reply`."""
    fields = decode_reply(frame)
    if isinstance(fields, bytes):
        raise CallFailed("undecodable", "a binary frame within a stream of events")
    if "end" in fields:
        return None
    return fields, len(frame) if frame.isascii() else len(str(frame).encode())


def bytes_of(frame: Frame) -> int:
    """Bytes of a frame's payload."""
    return len(frame) if isinstance(frame, bytes) else len(frame.encode())


def value(exchange: Exchange) -> Reply:
    """The reply in plain values."""
    decoded = exchange[2]
    return {"data": decoded} if isinstance(decoded, bytes) else decoded


def exchange(sent: Frame, received: Frame) -> Exchange:
    """What a client's `call` returns. CallFailed as `decode_reply`."""
    return _size(sent), _size(received), decode_reply(received)


def sizes(exchange: Exchange) -> tuple[int, int]:
    """Bytes of both frames' payloads."""
    sent, received = (len(size.encode()) if isinstance(size, str) else size for size in exchange[:2])
    return sent, received


def _size(frame: Frame) -> Size:
    # Python knows of a text whether it is ASCII, and then its length in UTF-8.
    return len(frame) if isinstance(frame, bytes) or frame.isascii() else frame


def decode_request(frame: Frame, *, full_decode: bool) -> dict[str, Any]:
    """A request's fields, as the responder hands them to the operation; ValueError for a frame that has none."""
    if isinstance(frame, bytes):
        return {"data": frame, "full_decode": full_decode}
    return expect_mapping(json.loads(frame))


def encode_event(event: Event) -> str:
    """An event as a text frame."""
    return _to_json(event)


def encode_reply(reply: Mapping[str, Any]) -> Frame:
    """A reply as a frame."""
    return reply["data"] if "data" in reply else _to_json(reply)
