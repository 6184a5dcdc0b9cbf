"""MessagePack: maps of named fields, byte strings as they are."""

from __future__ import annotations

from typing import Any

import msgpack

from services.http.binary import Coder, self_describing
from services.http.codec import expect_mapping


def _read(body: bytes) -> dict[str, Any]:
    return expect_mapping(msgpack.unpackb(body))


CODEC = self_describing(
    "application/msgpack", Coder(write=msgpack.packb, read=_read), errors=(ValueError, msgpack.UnpackException)
)
