"""What independent load generators printed: kept in the run folder, and held against what the journal says of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from orchestrator.referee.figures import Figures, Unreadable
from orchestrator.referee.tools import TOOLS
from orchestrator.results import sizes
from orchestrator.results.documents import whole_file
from orchestrator.results.manifest import TurnRecord
from orchestrator.results.paths import ALTERED, damaged, digest, inside, read_bytes

FOLDER = "referee"


def keep(folder: Path, turn: TurnRecord, text: str) -> str:
    """Write what was printed in a turn; its SHA-256. MissingError when the disk is full."""
    content = text.encode()
    path = inside(folder, turn.raw)
    path.parent.mkdir(exist_ok=True)
    with whole_file(path) as partial:
        partial.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def verify(folder: Path, turns: Iterable[TurnRecord], plan: Mapping[str, Any]) -> tuple[str, ...]:
    """The files of the turns, each held against its SHA-256 and read again; InvalidMeasurement names one that differs.

    The figures of the journal must be those of the output: who alters one of them must alter both.
    """
    in_flight = {cell["id"]: cell["load"]["concurrency"] for cell in plan["cells"]}
    found = []
    for turn in turns:
        if not turn.sha256:
            continue
        path = inside(folder, turn.raw)
        if digest(path, sizes.TURN) != turn.sha256:
            raise damaged(path, ALTERED)
        if turn.requests is not None and read_again(path, turn, in_flight[turn.cell]) != figures_of(turn):
            raise damaged(path, "the journal has other figures of this turn than its output")
        found.append(turn.raw)
    return tuple(found)


def figures_of(turn: TurnRecord) -> Figures | None:
    """The figures that a turn's record has; None where it has none."""
    if turn.requests is None or turn.window_s is None or turn.median_ns is None:
        return None
    return Figures(requests=turn.requests, window_s=turn.window_s, median_ns=turn.median_ns)


def read_again(path: Path, turn: TurnRecord, in_flight: int) -> Figures | None:
    """The figures in what was printed; None where there are none to read."""
    try:
        return TOOLS[turn.tool].read(read_bytes(path, sizes.TURN).decode(), in_flight)
    except (KeyError, Unreadable, UnicodeDecodeError):
        return None
