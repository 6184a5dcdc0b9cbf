"""MessagePack: maps of named fields, byte strings as they are."""

from __future__ import annotations

import msgpack

from services.python.codecs.base import Coder, expect_mapping, self_describing

CODEC = self_describing(
    "application/msgpack",
    Coder(write=msgpack.packb, read=lambda body: expect_mapping(msgpack.unpackb(body))),
    errors=(ValueError, msgpack.UnpackException),
)
