"""Run folders of `results` as a user names and deletes them, and notes on runs.

A deleted run goes with its report and its notes; nothing else does, and no link is followed.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from orchestrator.disk import writing
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.results.folder import RunFolder
from orchestrator.results.journal import try_hold
from orchestrator.workspace import Workspace

_DELETED = ".deleted-"  # how the name of a folder begins that is on its way


def folder_of(workspace: Workspace, named: str) -> Path:
    """The folder of that id, unique beginning of one, path, or `latest`: an entry of `results`.

    UsageError where there is none, and for one that lies elsewhere.
    """
    path = RunFolder.open(named, root=workspace.results).path
    if path.parent.resolve() != workspace.results.resolve():  # of the path itself: a link stays one
        raise UsageError(
            f"{path} does not lie in {workspace.results}/", hint="copy it there first: this leaves it alone"
        )
    return workspace.results / path.name


def find_deletable(workspace: Workspace, named: str, *, standing: Iterable[str] = ()) -> RunFolder:
    """The run of that id, unique beginning of one, or path below `results`, if it may be deleted.

    UsageError for one that lies elsewhere, is a link, is in progress, or has hosts that are up (`standing`: the ids of such
    runs).
    """
    path = folder_of(workspace, named)
    folder = RunFolder(path)
    if path.is_symlink():
        raise UsageError(f"{path} is a link, and orch deletes folders alone", hint=f"remove the link: rm {path}")
    if folder.is_in_progress:
        raise UsageError(f"run {path.name} is in progress", hint="end it first: orch teardown, or Ctrl-C where it runs")
    if path.name in set(standing):
        raise UsageError(f"hosts of run {path.name} are up", hint=f"take them down first: orch teardown {path.name}")
    return folder


def delete(workspace: Workspace, folder: RunFolder, reports: Iterable[Path] = ()) -> None:
    """Delete a run with its `reports`, and what a killed `orch runs delete` left.

    MissingError for what the disk refuses; UsageError where a process has begun to write the run meanwhile.
    """
    hold = None
    with suppress(InvalidMeasurement):  # no journal: nobody can write it
        hold = try_hold(folder.path / "journal.jsonl")
        if hold is None:
            raise UsageError(f"run {folder.path.name} is in progress", hint="wait until it has ended")
    try:
        with writing(folder.path, "try again"):
            folder.path.rename(
                workspace.results / f"{_DELETED}{secrets.token_hex(8)}"
            )  # at once: a kill leaves no half
    finally:
        if hold is not None:
            hold.close()
    with writing(workspace.state, "try again"):
        for report in (*reports, _notes_file(workspace, folder.path.name)):
            report.unlink(missing_ok=True)
    for path in workspace.results.glob(f"{_DELETED}*"):
        shutil.rmtree(path, ignore_errors=True)


def notes_on(workspace: Workspace, run: str) -> tuple[str, ...]:
    """What was noted on a run, oldest first."""
    path = _notes_file(workspace, run)
    return tuple(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else ()


def add_note(workspace: Workspace, run: str, text: str, at: str) -> None:
    """Note something on a run, behind its time (ISO 8601); UsageError for a note without words."""
    if not text.strip():
        raise UsageError("a note has words", hint="orch runs note RUN TEXT; without TEXT, its notes are shown")
    with writing(workspace.notes, "try again"):
        workspace.notes.mkdir(parents=True, exist_ok=True)
        with _notes_file(workspace, run).open("a", encoding="utf-8") as file:
            file.write(f"{at[:16].replace('T', ' ')}  {' '.join(text.split())}\n")


def _notes_file(workspace: Workspace, run: str) -> Path:
    return workspace.notes / f"{run}.txt"
