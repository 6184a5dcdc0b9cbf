"""Write a note on a run, or show those that it has; notes lie in .orch/notes, not in run folders."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from orchestrator.cli import completions
from orchestrator.cli.choosing import AsJson
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE


def command(
    run: Annotated[
        str, typer.Argument(help="Run id, its beginning, a path, or `latest`.", autocompletion=completions.runs)
    ],
    text: Annotated[str | None, typer.Argument(help="What to note; without it the run's notes are shown.")] = None,
    as_json: AsJson = False,
) -> None:
    """Add a note with the time, or print all notes and tags of the run."""
    from orchestrator.clock import SYSTEM
    from orchestrator.history import noted
    from orchestrator.history.named import folder_of

    console.as_json = as_json
    name = folder_of(WORKSPACE, run).name
    if text is None:
        found = noted.read(WORKSPACE.notes, name)
    else:
        found = noted.add_note(WORKSPACE.notes, name, text, at=SYSTEM.iso())
    console.emit({"run": name, **asdict(found)})
    console.result(f"run {name}" + (f"  [{', '.join(found.tags)}]" if found.tags else ""))
    for note in found.notes:
        first, *more = note.text.split("\n")
        console.result(f"  {note.at[:16].replace('T', ' ')}  {first}")
        for line in more:
            console.result(f"  {'':16}  {line}")
    if not found.notes:
        console.result("  no notes")
