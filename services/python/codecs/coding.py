"""What compresses bodies where a trial says so: the knob `compression`, at one level everywhere, each library's own default.

gRPC's core compresses with the same zlib at the same level. Nothing is left out for being small: what is measured is
compression as it was asked for, not a server's opinion of when it pays.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Mapping

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.contract.strict import Part, part

GZIP, ZSTD = "gzip", "zstd"
LEVEL, ZSTD_LEVEL = 6, 3
ASKED_FOR = f"compression: {GZIP}"  # the setting's name where an experiment says so
KNOBS: Mapping[str, tuple[str, ...]] = {"compression": ("none", GZIP, ZSTD)}
GZIP_SETTINGS: Mapping[str, str] = {"compression": "off", ASKED_FOR: f"zlib's level {LEVEL}, bodies of any size"}
SETTINGS: Mapping[str, str] = {
    **GZIP_SETTINGS,
    f"compression: {ZSTD}": f"libzstd's level {ZSTD_LEVEL}, bodies of any size",
}
_GZIP_WBITS = 31  # zlib's way to say: a gzip header and trailer around the largest window


@part
class Coding(Part):
    """How bodies are compressed, `name` as Content-Encoding has it; `unpack` raises ValueError for what it did not pack."""

    name: str
    pack: Callable[[bytes], bytes]
    unpack: Callable[[bytes], bytes]


def coding(knobs: Mapping[str, str]) -> Coding | None:
    """How bodies are to be compressed; None where they are not."""
    name = knobs.get("compression", "none")
    return None if name == "none" else named(name)


def named(name: str) -> Coding:
    """Return the coding of that name; ValueError for one that there is not."""
    if name == GZIP:
        return Coding(name=GZIP, pack=pack, unpack=unpack)
    if name == ZSTD:
        contexts = Contexts()
        return Coding(name=ZSTD, pack=contexts.pack, unpack=contexts.unpack)
    raise ValueError(f"no coding {name}")


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


class Contexts(threading.local):
    """libzstd's two contexts, kept from one body to the next: each thread has its own, as two may not use one at once."""

    def __init__(self) -> None:
        import zstandard  # where nobody asks for it, nobody pays for it

        self._library = zstandard
        self._compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
        self._decompressor = zstandard.ZstdDecompressor()

    def pack(self, body: bytes) -> bytes:
        """The body as one frame, which says how large the body is."""
        return self._compressor.compress(body)

    def unpack(self, body: bytes) -> bytes:
        """The body of one frame; ValueError for anything else, and for one that is larger than a message may be."""
        try:
            size = self._library.frame_content_size(body)
            if not 0 <= size <= MAX_MESSAGE_BYTES:
                raise ValueError("a zstd frame that does not say its size, or says one that no message has")
            return self._decompressor.decompress(body, allow_extra_data=False)
        except self._library.ZstdError as error:
            raise ValueError(f"not one whole zstd frame: {error}") from error
