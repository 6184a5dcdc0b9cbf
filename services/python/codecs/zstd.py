"""zstd as both ends use it where a trial says `compression: zstd`: libzstd's own default level, whatever the size."""

from __future__ import annotations

import threading

import zstandard

from services.python.contract.limits import MAX_MESSAGE_BYTES

LEVEL = 3


class Contexts(threading.local):
    """libzstd's two contexts, kept from one body to the next: each thread has its own, as two may not use one at once."""

    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor(level=LEVEL)
        self._decompressor = zstandard.ZstdDecompressor()

    def pack(self, body: bytes) -> bytes:
        """The body as one frame, which says how large the body is."""
        return self._compressor.compress(body)

    def unpack(self, body: bytes) -> bytes:
        """The body of one frame; ValueError for anything else, and for one that is larger than a message may be."""
        try:
            size = zstandard.frame_content_size(body)
            if not 0 <= size <= MAX_MESSAGE_BYTES:
                raise ValueError("a zstd frame that does not say its size, or says one that no message has")
            return self._decompressor.decompress(body, allow_extra_data=False)
        except zstandard.ZstdError as error:
            raise ValueError(f"not one whole zstd frame: {error}") from error
