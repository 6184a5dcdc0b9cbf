"""What independent load generators printed: kept in the run folder, and held against what the journal says of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from orchestrator.results.documents import whole_file
from orchestrator.results.manifest import TurnRecord
from orchestrator.results.paths import ALTERED, damaged, digest, inside

FOLDER = "referee"


def keep(folder: Path, turn: TurnRecord, text: str) -> str:
    """Write what was printed in a turn; its SHA-256. MissingError when the disk is full."""
    content = text.encode()
    path = inside(folder, turn.raw)
    path.parent.mkdir(exist_ok=True)
    with whole_file(path) as partial:
        partial.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def verify(folder: Path, turns: Iterable[TurnRecord]) -> tuple[str, ...]:
    """Return the files of the turns, each held against its SHA-256; InvalidMeasurement names one that differs."""
    found = []
    for turn in turns:
        if not turn.sha256:
            continue
        path = inside(folder, turn.raw)
        if digest(path) != turn.sha256:
            raise damaged(path, ALTERED)
        found.append(turn.raw)
    return tuple(found)
