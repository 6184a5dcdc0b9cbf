"""A picture of exactly so many bytes, the same on every machine and with every version of every library.

It is a PNG put together here, pixels stored without compression, so that no encoder's taste gets in; what the pixels
leave of the wanted size is filled by a private ancillary chunk, which every reader skips (PNG specification, W3C 2003,
sections 5.4 and 14.2). Pixels are pseudo-random (`protos/payloads.md`), as incompressible as those of a
photograph.
"""

from __future__ import annotations

import math
import struct
import zlib

from services.python.contract.generator import stream

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHUNK_OVERHEAD = 12  # length, type, CRC
_STORED_BLOCK = 65_535  # most bytes of a stored deflate block (RFC 1951, 3.2.4)
_BYTES_PER_PIXEL = 3

SMALLEST = len(_SIGNATURE) + (_CHUNK_OVERHEAD + 13) + (_CHUNK_OVERHEAD + 6 + 5 + 4) + _CHUNK_OVERHEAD + _CHUNK_OVERHEAD
LARGEST = 250_000_000  # beyond this Pillow suspects a decompression bomb


def picture(size: int) -> bytes:
    """A valid RGB PNG of exactly `size` bytes; ValueError below `SMALLEST` or above `LARGEST`.

    The picture is as near to square as fits.
    """
    if not SMALLEST <= size <= LARGEST:
        raise ValueError(f"a picture has {SMALLEST} to {LARGEST:,} bytes; {size:,} was asked for")
    width, height = _dimensions(size)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    # Before each row stands its filter type, 0.
    rows = b"".join(b"\0" + stream(f"picture/{row}", _BYTES_PER_PIXEL * width) for row in range(height))
    padding = bytes(size - _file_size(width, height))
    chunks = ((b"IHDR", header), (b"orPd", padding), (b"IDAT", _stored(rows)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in chunks)


def _dimensions(size: int) -> tuple[int, int]:
    """The largest nearly square picture whose file, with an empty padding chunk, has at most `size` bytes."""
    side = math.isqrt(size // _BYTES_PER_PIXEL)
    while side > 1 and _file_size(side, side) > size:
        side -= 1
    height = side
    while _file_size(side, height + 1) <= size:
        height += 1
    return side, height


def _file_size(width: int, height: int) -> int:
    return (
        len(_SIGNATURE) + (_CHUNK_OVERHEAD + 13) + (_CHUNK_OVERHEAD + _stored_size(width, height)) + 2 * _CHUNK_OVERHEAD
    )


def _stored_size(width: int, height: int) -> int:
    raw = (1 + _BYTES_PER_PIXEL * width) * height
    return 2 + raw + 5 * math.ceil(raw / _STORED_BLOCK) + 4


def _stored(content: bytes) -> bytes:
    """A zlib stream of stored blocks (RFC 1950, RFC 1951)."""
    blocks = [content[at : at + _STORED_BLOCK] for at in range(0, len(content), _STORED_BLOCK)]
    heads = [struct.pack("<BHH", block is blocks[-1], len(block), 0xFFFF ^ len(block)) for block in blocks]
    parts = (part for pair in zip(heads, blocks, strict=True) for part in pair)
    return b"".join((b"\x78\x01", *parts, struct.pack(">I", zlib.adler32(content))))


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(content, zlib.crc32(kind))
    return b"".join((struct.pack(">I", len(content)), kind, content, struct.pack(">I", checksum)))
