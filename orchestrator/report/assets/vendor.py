"""Pack Plotly's basic bundle for reports: `python orchestrator/report/assets/vendor.py package/plotly-basic.min.js`.

Deterministic: the same bundle gives the same bytes (no time stamp, no file name in the gzip header). It is packed with
libdeflate (Debian: libdeflate0) at its highest level, 4 % smaller than with zlib; any program unpacks it.
"""

from __future__ import annotations

import ctypes
import gzip
import hashlib
import sys
from ctypes.util import find_library
from pathlib import Path

HIGHEST = 12


def pack(bundle: Path, into: Path) -> str:
    """Write `bundle` compressed to `into`; returns the SHA-256 of the unpacked text, for the README beside it."""
    text = bundle.read_bytes()
    packed = smallest(text)
    if gzip.decompress(packed) != text:
        raise ValueError("libdeflate packed something else")
    into.write_bytes(packed)
    return hashlib.sha256(text).hexdigest()


def smallest(text: bytes) -> bytes:
    """The text as gzip; OSError where libdeflate is not installed."""
    library = ctypes.CDLL(find_library("deflate") or "libdeflate.so.0")
    library.libdeflate_alloc_compressor.restype = ctypes.c_void_p
    compress = library.libdeflate_gzip_compress
    compress.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    compress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(len(text) + 1024)
    size = compress(library.libdeflate_alloc_compressor(HIGHEST), text, len(text), room, len(room))
    return room.raw[:size]


if __name__ == "__main__":
    digest = pack(Path(sys.argv[1]), Path(__file__).with_name("plotly-basic.min.js.gz"))
    sys.stdout.write(f"{digest}\n")
