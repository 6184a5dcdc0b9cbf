"""How an operation looks in WebSocket frames.

The operation is the path that the connection was opened with. The bytes of an echo, a picture and a transfer travel as a
binary frame, everything else as a text frame with one JSON object, where the bytes of other messages are base64. What the
request of a picture or a transfer says besides its bytes stands in the connection's query.
A reply of `{"error": "..."}` tells why there is no other. A subscription's events are text frames, and `{"end": true}` is
the frame after the last one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from services.python.codecs.base import expect_mapping, message_of
from services.python.codecs.json import as_bytes, as_text, bytes_of
from services.python.contract.messages import ECHO, IMAGE, TRANSFER
from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec, Event, Reply, Request
from services.python.operations import forms, message_named
from services.python.transports.http.route import authority

Frame = str | bytes
Size = int | str
"""Bytes of a frame's payload; of a text that is not ASCII the text itself, as encoding it again takes its time."""

Exchange = tuple[Size, Size, Any]
"""What a client's `call` returns: the sizes of the frame sent and of that received, and what the latter decoded to.

Not the frames: replies may wait to be verified, and large buffers must not (`load.unverified`).
"""

FULL_DECODE = "full_decode=1"
_REPLY_SIZE = "reply_size="

_WITH_BINARY_FRAMES = (ECHO.name, IMAGE.name, TRANSFER.name)

_to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def url(call: CallSpec) -> str:
    """Where to connect for this operation."""
    query = ""
    if message_named(call.operation).name == TRANSFER.name:
        query = f"?{_REPLY_SIZE}{call.example['reply_size']}"
    elif call.example.get("full_decode"):
        query = f"?{FULL_DECODE}"
    scheme = "ws" if call.tls is None else "wss"
    return f"{scheme}://{authority(call.host, call.port)}/{call.operation}{query}"


def encoder(call: CallSpec) -> Callable[[Request], Frame]:
    """What turns this operation's requests into frames; CallFailed when JSON cannot carry the example."""
    encode = _encoder(call)
    try:
        encode(call.example)
    except (ValueError, TypeError, RecursionError) as error:
        raise CallFailed("protocol", f"{call.operation} cannot be encoded as JSON: {error}") from error
    return encode


def _encoder(call: CallSpec) -> Callable[[Request], Frame]:
    message = message_named(call.operation)
    if message.name in _WITH_BINARY_FRAMES:
        return itemgetter("data") if "data" in call.example else _to_json
    names = bytes_of(message.request)
    return (lambda request: _to_json(as_text(request, names))) if names else _to_json


def decoder(call: CallSpec) -> Callable[[Frame], Any]:
    """What reads this operation's replies; it raises CallFailed as `decode_reply`."""
    names = bytes_of(forms()[message_of(call.operation, call.example)].reply)
    if not names or message_named(call.operation).name in _WITH_BINARY_FRAMES:
        return decode_reply

    def decode(frame: Frame) -> Any:
        fields = decode_reply(frame)
        try:
            return as_bytes(fields, names)
        except (ValueError, TypeError) as error:
            raise CallFailed("undecodable", f"{error} in {frame[:200]!r}") from error

    return decode


def decode_reply(frame: Frame) -> Any:
    """Bytes of a binary frame, the fields of a text frame; CallFailed `protocol` or `undecodable`."""
    if isinstance(frame, bytes):
        return frame
    try:
        fields = expect_mapping(json.loads(frame))
    except (ValueError, RecursionError) as error:
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


def length_of(frame: Frame) -> int:
    """Bytes of a frame's payload."""
    return len(frame) if isinstance(frame, bytes) else len(frame.encode())


def exchange(sent: Frame, received: Frame, decode: Callable[[Frame], Any]) -> Exchange:
    """What a client's `call` returns. CallFailed as `decode_reply`."""
    return _size(sent), _size(received), decode(received)


@dataclass(frozen=True, kw_only=True)
class Speech:
    """Where a connection is opened, with which further header fields, and how its frames are written and read."""

    url: str
    encode: Callable[[Request], Frame]
    decode: Callable[[Frame], Any]
    headers: Mapping[str, str] = field(default_factory=dict)


class DialerBase:
    """What every WebSocket client here opens connections by; CallFailed when JSON cannot carry the example request."""

    def __init__(self, call: CallSpec, client: Client, speech: Speech | None = None) -> None:  # noqa: ARG002 - it is one
        self._call = call
        self._speech = speech or Speech(url=url(call), encode=encoder(call), decode=decoder(call))


class ConnectionBase:
    """What every WebSocket client here has in common: it reads exchanges, and is never timed.

    A connection ends with its first failure: a late reply would be taken for the next one's.
    """

    body: Frame | None = None  # See `load.client.Readable.body`

    def __init__(self, opened: Any, speech: Speech, timeout_s: float) -> None:
        self._socket = opened
        self._encode, self._decode = speech.encode, speech.decode
        self._timeout_s = timeout_s

    def value(self, reply: Exchange) -> Reply:
        decoded = reply[2]
        return {"data": decoded} if isinstance(decoded, bytes) else decoded

    def sizes(self, request: Request, reply: Exchange) -> tuple[int, int]:  # noqa: ARG002 - the exchange holds the frame
        sent, received = (len(size.encode()) if isinstance(size, str) else size for size in reply[:2])
        return sent, received


def _size(frame: Frame) -> Size:
    # Python knows of a text whether it is ASCII, and then its length in UTF-8.
    return len(frame) if isinstance(frame, bytes) or frame.isascii() else frame


def decode_request(frame: Frame, *, full_decode: bool) -> dict[str, Any]:
    """A request's fields, as the responder hands them to the operation; ValueError for a frame that has none."""
    if isinstance(frame, bytes):
        return {"data": frame, "full_decode": full_decode}
    return expect_mapping(json.loads(frame))


def encode_reply(reply: Mapping[str, Any]) -> Frame:
    """A reply as a frame, where bytes are a binary one."""
    return reply["data"] if "data" in reply else _to_json(reply)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the responder reads the requests of an operation, and writes the replies."""

    read: Callable[[Frame, str], dict[str, Any]]
    write: Callable[[Mapping[str, Any]], Frame]


def reading(operation: str) -> Reading:
    """See `Reading`; `read` is told the query that the connection was opened with, and raises ValueError."""
    message = message_named(operation)
    bytes_asked, answered = bytes_of(message.request), bytes_of(message.reply)
    if message.name == TRANSFER.name:
        return Reading(read=_transfer, write=encode_reply)
    if message.name in _WITH_BINARY_FRAMES:
        return Reading(read=_request, write=encode_reply)
    return Reading(
        read=(lambda frame, _: as_bytes(decode_request(frame, full_decode=False), bytes_asked))
        if bytes_asked
        else _request,
        write=(lambda reply: _to_json(as_text(reply, answered))) if answered else _to_json,
    )


def _request(frame: Frame, query: str) -> dict[str, Any]:
    return decode_request(frame, full_decode=query == FULL_DECODE)


def _transfer(frame: Frame, query: str) -> dict[str, Any]:
    size = query.removeprefix(_REPLY_SIZE)
    if not isinstance(frame, bytes) or size == query or not (size.isascii() and size.isdigit()):
        raise ValueError("a transfer is a binary frame on a connection opened with ?reply_size=BYTES")
    return {"data": frame, "reply_size": int(size)}


def error_frame(words: str) -> Frame:
    """The reply that tells why there is no other."""
    return _to_json({"error": words})
