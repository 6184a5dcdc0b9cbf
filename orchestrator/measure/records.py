"""Raw timing records on their way from a host into the run folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from struct import Struct

from orchestrator.hosts.base import Host

_ROW = Struct("<10q")


@dataclass(frozen=True, kw_only=True)
class Row:
    """The part of a row (protos/timings.md) that the run loop itself looks at."""

    sequence: int
    sent_ns: int
    received_ns: int
    is_ok: bool


def collect(host: Host, remote: PurePosixPath, local: Path) -> list[Row]:
    """Bring a short record from its host to `local`, and read it; ValueError when nothing was recorded."""
    bring(host, remote, local)
    return list(_rows(local))


def bring(host: Host, remote: PurePosixPath, local: Path) -> None:
    """Bring a record from its host to `local`; ValueError when it holds no row."""
    local.parent.mkdir(parents=True, exist_ok=True)
    host.fetch(remote, local)
    if next(_rows(local), None) is None:
        local.unlink()
        raise ValueError(f"nothing was recorded in {remote.name} on {host.name}")


def _rows(path: Path) -> Iterator[Row]:
    with path.open("rb") as record:
        while len(content := record.read(_ROW.size)) == _ROW.size:
            values = _ROW.unpack(content)
            if values[0] == 0:
                return
            yield Row(sequence=values[0], sent_ns=values[4], received_ns=values[5], is_ok=values[9] == 0)
