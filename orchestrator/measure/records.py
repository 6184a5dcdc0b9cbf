"""Raw timing records on their way from a host into the run folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from orchestrator.errors import InvalidMeasurement
from orchestrator.hosts.base import Host
from orchestrator.record_layout import COLUMNS, ROW
from orchestrator.results.records import written
from services.python.contract.limits import Recorded

_SEQUENCE, _SENT, _RECEIVED, _STATUS = map(COLUMNS.index, ("sequence", "sent_ns", "received_ns", "status"))


@dataclass(frozen=True, kw_only=True)
class Row:
    """The part of a row (protos/timings.md) that the run loop itself looks at."""

    sequence: int
    sent_ns: int
    received_ns: int
    is_ok: bool


def collect(host: Host, remote: PurePosixPath, local: Path) -> list[Row]:
    """Bring a short record from its host to `local`, and read it; errors as `bring`."""
    bring(host, remote, local)
    return list(_rows(local))


def bring(
    host: Host,
    remote: PurePosixPath,
    local: Path,
    *,
    kind: Recorded = "call",
    parts: int | None = None,
    at_once: bool = False,
) -> None:
    """Bring a record from its host to `local`.

    ValueError when it holds no row, is no record that this orch reads, or not of that kind of work, in so many parts.
    """
    local.parent.mkdir(parents=True, exist_ok=True)
    host.fetch(remote, local)
    try:
        trouble = (
            "" if sum(map(len, written(local, kind=kind, parts=parts, at_once=at_once))) else "nothing was recorded"
        )
    except InvalidMeasurement as error:
        trouble = error.message.removeprefix(f"{local}: ")
    if trouble:
        local.unlink()
        raise ValueError(f"{remote.name} on {host.name}: {trouble}")


def _rows(path: Path) -> Iterator[Row]:
    for rows in written(path):
        for values in ROW.iter_unpack(rows):
            yield Row(
                sequence=values[_SEQUENCE],
                sent_ns=values[_SENT],
                received_ns=values[_RECEIVED],
                is_ok=values[_STATUS] == 0,
            )
