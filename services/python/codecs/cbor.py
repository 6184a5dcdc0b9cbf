"""CBOR (RFC 8949) with cbor2: maps of named fields, byte strings as they are."""

from __future__ import annotations

from typing import Any

import cbor2

from services.python.codecs.base import Coder, expect_mapping, self_describing


def _read(body: bytes) -> dict[str, Any]:
    return expect_mapping(cbor2.loads(body))


CODEC = self_describing(
    "application/cbor", Coder(write=cbor2.dumps, read=_read), errors=(ValueError, cbor2.CBORDecodeError)
)
