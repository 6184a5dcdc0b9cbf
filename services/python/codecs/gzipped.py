"""gzip as both ends use it where a trial says `compression: gzip`: one level everywhere, that of zlib's own default.

gRPC's core compresses with the same library at the same level. Nothing is left out for being small: what is measured is
compression as it was asked for, not a server's opinion of when it pays.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from services.python.contract.limits import MAX_MESSAGE_BYTES

GZIP = "gzip"
LEVEL = 6
ASKED_FOR = "compression: gzip"  # the setting's name where an experiment says so
SETTINGS: Mapping[str, str] = {"compression": "off", ASKED_FOR: f"zlib's level {LEVEL}, bodies of any size"}
KNOBS: Mapping[str, tuple[str, ...]] = {"compression": ("none", GZIP)}

_GZIP_WBITS = 31  # zlib's way to say: a gzip header and trailer around the largest window


def is_asked_for(knobs: Mapping[str, str]) -> bool:
    """Whether bodies are to be compressed."""
    return knobs.get("compression") == GZIP


def pack(body: bytes) -> bytes:
    """The body as one gzip member."""
    return zlib.compress(body, LEVEL, _GZIP_WBITS)


def unpack(body: bytes) -> bytes:
    """The body of one gzip member; ValueError for anything else, and for one that is larger than a message may be."""
    reader = zlib.decompressobj(_GZIP_WBITS)
    try:
        plain = reader.decompress(body, MAX_MESSAGE_BYTES)
    except zlib.error as error:
        raise ValueError(f"not gzip: {error}") from error
    if not reader.eof or reader.unused_data:
        raise ValueError("not one whole gzip member")
    return plain
