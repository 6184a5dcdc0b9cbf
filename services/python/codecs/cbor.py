"""CBOR (RFC 8949) with cbor2: maps of named fields, byte strings as they are."""

from __future__ import annotations

import cbor2

from services.python.codecs.base import Coder, expect_mapping, self_describing

CODEC = self_describing(
    "application/cbor",
    Coder(write=cbor2.dumps, read=lambda body: expect_mapping(cbor2.loads(body))),
    errors=(ValueError, cbor2.CBORDecodeError),
)
