"""The state of a run that never said how it ended: its journal's lock tells whether somebody still writes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orchestrator.history.record import RUNNING, Listed
from orchestrator.results.journal import is_held

IN_PROGRESS, INTERRUPTED = "in progress", "interrupted"


def live(run: Listed) -> Listed:
    """The run, `in progress` or `interrupted` where the index has it as running."""
    if run.state != RUNNING:
        return run
    return replace(run, state=IN_PROGRESS if is_held(Path(run.path) / "journal.jsonl") else INTERRUPTED)
