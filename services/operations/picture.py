"""A picture of exactly so many bytes, the same on every machine and with every version of every library.

It is a PNG put together here, pixels stored without compression, so that no encoder's taste gets in; what the pixels
leave of the wanted size is filled by a private ancillary chunk, which every reader skips (PNG specification, W3C 2003,
sections 5.4 and 14.2). Pixels are pseudo-random, as incompressible as those of a photograph.
"""

from __future__ import annotations

import math
import random
import struct
import zlib

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHUNK_OVERHEAD = 12  # length, type, CRC
_STORED_BLOCK = 65_535  # most bytes of a stored deflate block (RFC 1951, 3.2.4)
_BYTES_PER_PIXEL = 3
_SEED = 1

SMALLEST = len(_SIGNATURE) + (_CHUNK_OVERHEAD + 13) + (_CHUNK_OVERHEAD + 6 + 5 + 4) + _CHUNK_OVERHEAD + _CHUNK_OVERHEAD
LARGEST = 250_000_000  # beyond this Pillow suspects a decompression bomb


def picture(size: int) -> bytes:
    """A valid RGB PNG of exactly `size` bytes; ValueError below `SMALLEST` or above `LARGEST`.

    The picture is as near to square as fits.
    """
    if not SMALLEST <= size <= LARGEST:
        raise ValueError(f"a picture has {SMALLEST} to {LARGEST:,} bytes; {size:,} was asked for")
    width, height = _dimensions(size)
    rows = _rows(width, height)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [_SIGNATURE, _chunk(b"IHDR", header), _chunk(b"IDAT", _stored(rows)), _chunk(b"IEND", b"")]
    padding = size - sum(map(len, parts)) - _CHUNK_OVERHEAD
    parts.insert(2, _chunk(b"orPd", bytes(padding)))
    return b"".join(parts)


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
    raw = (1 + _BYTES_PER_PIXEL * width) * height
    stored = 2 + raw + 5 * math.ceil(raw / _STORED_BLOCK) + 4
    return len(_SIGNATURE) + (_CHUNK_OVERHEAD + 13) + (_CHUNK_OVERHEAD + stored) + 2 * _CHUNK_OVERHEAD


def _rows(width: int, height: int) -> bytes:
    """Every row with filter type 0 before it."""
    source = random.Random(_SEED)  # noqa: S311 - a load, not a secret
    return b"".join(b"\0" + source.randbytes(_BYTES_PER_PIXEL * width) for _ in range(height))


def _stored(raw: bytes) -> bytes:
    """A zlib stream of stored blocks (RFC 1950, RFC 1951)."""
    blocks = [raw[start : start + _STORED_BLOCK] for start in range(0, len(raw), _STORED_BLOCK)]
    stream = [b"\x78\x01"]
    for number, block in enumerate(blocks, start=1):
        stream += [struct.pack("<BHH", number == len(blocks), len(block), 0xFFFF ^ len(block)), block]
    return b"".join([*stream, struct.pack(">I", zlib.adler32(raw))])


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
