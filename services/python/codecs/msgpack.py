"""MessagePack: maps of named fields, byte strings as they are."""

from __future__ import annotations

from typing import Any

import msgpack

from services.python.codecs.base import Coder, expect_mapping, self_describing


def _read(body: bytes) -> dict[str, Any]:
    return expect_mapping(msgpack.unpackb(body))


CODEC = self_describing(
    "application/msgpack", Coder(write=msgpack.packb, read=_read), errors=(ValueError, msgpack.UnpackException)
)
