"""Notes on runs: a text for each run in `.orch/notes`, a note a line. They stay on this machine."""

from __future__ import annotations

from pathlib import Path

from orchestrator.disk import writing
from orchestrator.errors import UsageError
from orchestrator.workspace import Workspace


def notes_file(workspace: Workspace, run: str) -> Path:
    """Where the notes on a run are."""
    return workspace.notes / f"{run}.txt"


def notes_on(workspace: Workspace, run: str) -> tuple[str, ...]:
    """What was noted on a run, oldest first."""
    path = notes_file(workspace, run)
    return tuple(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else ()


def add_note(workspace: Workspace, run: str, text: str, at: str) -> None:
    """Note something on a run, behind its time (ISO 8601); UsageError for a note without words."""
    if not text.strip():
        raise UsageError("a note has words", hint="orch runs note RUN TEXT; without TEXT, its notes are shown")
    with writing(workspace.notes, "try again"):
        workspace.notes.mkdir(parents=True, exist_ok=True)
        with notes_file(workspace, run).open("a", encoding="utf-8") as file:
            file.write(f"{at[:16].replace('T', ' ')}  {' '.join(text.split())}\n")
