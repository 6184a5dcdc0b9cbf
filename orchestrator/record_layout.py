"""How a raw timing record lies in its file: the orchestrator's one description of `protos/timings.md`."""

from __future__ import annotations

from struct import Struct

MAGIC = b"orchtime"
VERSION = 2
COLUMNS = (
    "sequence",
    "phase",
    "connection",
    "intended_ns",
    "sent_ns",
    "received_ns",
    "service_ns",
    "bytes_sent",
    "bytes_received",
    "status",
    "kind",
    "parent",
    "sender_ns",
    "sender_clock",
)
KINDS = ("request", "task", "part", "event", "codec", "unused", "mixed")
CLOCKS = ("none", "requester-monotonic", "responder-monotonic", "requester-wall", "responder-wall")

ROW = Struct(f"<{len(COLUMNS)}q")
_NUMBERS = Struct("<8s4q24s")
_NAME = Struct("<32s")
HEADER_BYTES = _NUMBERS.size + _NAME.size * len(COLUMNS)
HEADER = b"".join(
    (
        _NUMBERS.pack(MAGIC, VERSION, HEADER_BYTES, ROW.size, len(COLUMNS), b""),
        *(_NAME.pack(name.encode()) for name in COLUMNS),
    )
)


def refusal(header: bytes, size: int) -> str | None:
    """Why a file of `size` bytes that begins with `header` (its first `HEADER_BYTES`) is not read; None where it is."""
    if header != HEADER:
        return f"not a timing record of version {VERSION} with its {len(COLUMNS)} columns"
    if (size - HEADER_BYTES) % ROW.size:
        return f"its {size - HEADER_BYTES:,} bytes after the header are no whole number of rows of {ROW.size}"
    return None
