"""What a load generator is to ask: the requests as our own requester put them on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Requests of one cell, as they were recorded: all alike but for their bodies.

    `bodies`: each body that occurred, in the order of first sight, so often as it takes to give them in turn. `path`: of
    HTTP the path, of gRPC the method (`package.Service/Method`). `fields`: header fields of HTTP but for those that every
    program sets by itself.
    """

    path: str
    bodies: tuple[bytes, ...]
    fields: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """How they are asked: where, how many at a time, on how many connections, for how many seconds.

    `authority`: the PEM file of who vouches for the responder's certificate; None where connections are plain. `folder`:
    where the program's input lies; `proto`: the file with the messages of gRPC. `keeps`: whether connections are kept.
    """

    host: str
    port: int
    in_flight: int
    connections: int
    window_s: int
    folder: PurePosixPath
    keeps: bool = True
    authority: str | None = None
    proto: PurePosixPath | None = None
    timeout_s: float = 30.0
