"""What each message is answered with, and whether an answer is right; from `protos/http.md` and `protos/payloads.md`."""

from __future__ import annotations

import re
import struct
import zlib
from typing import Any

from tests.conformance.reference.generator import stamp, stream

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def answer(name: str, fields: dict[str, Any], identity: str) -> dict[str, Any]:
    """The reply's fields; ValueError for a request that has none."""
    if name == "identity":
        return {"identity": identity}
    if name == "timestamp":
        return {"request_timestamp": fields["request_timestamp"], "response_timestamp": stamp()}
    if name == "add":
        return {"sum": fields["a"] + fields["b"]}
    if name == "exchange":
        return {"data": stream("reply", fields["reply_size"])}
    if name == "transfer":
        if fields["data"] != stream("request", len(fields["data"])):
            raise ValueError("not the bytes that a transfer sends")
        return {"data": stream("reply", fields["reply_size"])}
    if name == "image":
        width, height = size_of_png(fields["data"], fields["full_decode"])
        return {"width": width, "height": height}
    return dict(fields)


def is_right(name: str, fields: dict[str, Any], reply: dict[str, Any]) -> bool:
    """Whether this is the reply to that request."""
    if name == "timestamp":
        return reply.get("request_timestamp") == fields["request_timestamp"] and bool(
            STAMP.fullmatch(str(reply.get("response_timestamp")))
        )
    return _typed(reply) == _typed(answer(name, fields, ""))


def _typed(value: Any) -> str:
    """Equal for equal values of the same type, unlike `True == 1`; the order of an object's keys says nothing."""
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{key!r}: {_typed(item)}' for key, item in value.items()))}}}"
    return f"[{', '.join(map(_typed, value))}]" if isinstance(value, list) else repr(value)


def size_of_png(data: bytes, decode: bool) -> tuple[int, int]:
    if data[:8] != SIGNATURE or len(data) < 33:
        raise ValueError("no PNG")
    width, height = struct.unpack("!II", data[16:24])
    if decode:
        at, packed = 8, b""
        while at < len(data):
            (length,) = struct.unpack_from("!I", data, at)
            if data[at + 4 : at + 8] == b"IDAT":
                packed += data[at + 8 : at + 8 + length]
            at += 12 + length
        if len(zlib.decompress(packed)) != height * (1 + 3 * width):
            raise ValueError("pixels are missing")
    return width, height


def make_png(width: int, height: int) -> bytes:
    """A picture of eight bits a colour, from the generator."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))

    pixels = b"".join(b"\0" + stream(f"picture/{row}", 3 * width) for row in range(height))
    head = struct.pack("!IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")
