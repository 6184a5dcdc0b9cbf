"""What a load generator sends: the requests as our own requester put them on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """Recorded requests of one cell: all alike but for their bodies.

    `bodies`: in the order of first sight; they are sent in turn. `path`: of HTTP the path, of gRPC the method
    (`package.Service/Method`). `fields`: header fields of HTTP but for those that every program sets by itself.
    """

    path: str
    bodies: tuple[bytes, ...]
    fields: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Where requests are sent, how many at a time, on how many connections, for how many seconds.

    `authority`: the PEM file of the authority that signed the responder's certificate; None of plain connections.
    `folder`: where the program's input lies; `proto`: the file with the messages of gRPC.
    """

    host: str
    port: int
    in_flight: int
    connections: int
    window_s: int
    folder: PurePosixPath
    keeps: bool = True  # connections
    authority: str | None = None
    proto: PurePosixPath | None = None
    timeout_s: float = 30.0
