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
from collections.abc import Iterable, Iterator

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
    return b"".join(pieces(size))


def pieces(size: int) -> Iterator[bytes]:
    """The bytes of `picture(size)`, a small piece at a time; ValueError as there, when the first one is asked for."""
    if not SMALLEST <= size <= LARGEST:
        raise ValueError(f"a picture has {SMALLEST} to {LARGEST:,} bytes; {size:,} was asked for")
    width, height = _dimensions(size)
    padding = size - _file_size(width, height)
    yield _SIGNATURE
    yield from _chunk(b"IHDR", 13, [struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)])
    yield from _chunk(b"orPd", padding, _zeros(padding))
    yield from _chunk(b"IDAT", _stored_size(width, height), _stored(_rows(width, height), _raw_size(width, height)))
    yield from _chunk(b"IEND", 0, [])


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


def _raw_size(width: int, height: int) -> int:
    return (1 + _BYTES_PER_PIXEL * width) * height


def _stored_size(width: int, height: int) -> int:
    raw = _raw_size(width, height)
    return 2 + raw + 5 * math.ceil(raw / _STORED_BLOCK) + 4


def _rows(width: int, height: int) -> Iterator[bytes]:
    """Every row with filter type 0 before it."""
    for row in range(height):
        yield b"\0" + stream(f"picture/{row}", _BYTES_PER_PIXEL * width)


def _zeros(count: int) -> Iterator[bytes]:
    while count:
        yield bytes(min(count, _STORED_BLOCK))
        count -= min(count, _STORED_BLOCK)


def _stored(rows: Iterable[bytes], size: int) -> Iterator[bytes]:
    """A zlib stream of stored blocks (RFC 1950, RFC 1951) that holds the rows, `size` bytes together."""
    yield b"\x78\x01"
    checksum, waiting = 1, bytearray()
    for row in rows:
        checksum = zlib.adler32(row, checksum)
        waiting += row
        while len(waiting) >= _STORED_BLOCK:
            size -= _STORED_BLOCK
            yield _block(waiting[:_STORED_BLOCK], is_last=not size)
            del waiting[:_STORED_BLOCK]
    if waiting:
        yield _block(waiting, is_last=True)
    yield struct.pack(">I", checksum)


def _block(content: bytearray, *, is_last: bool) -> bytes:
    return struct.pack("<BHH", is_last, len(content), 0xFFFF ^ len(content)) + content


def _chunk(kind: bytes, size: int, content: Iterable[bytes]) -> Iterator[bytes]:
    yield struct.pack(">I", size) + kind
    checksum = zlib.crc32(kind)
    for part in content:
        checksum = zlib.crc32(part, checksum)
        yield part
    yield struct.pack(">I", checksum)
