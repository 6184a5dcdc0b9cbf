"""Deletes runs: folder below `results`, its report, and what was written on it. Nothing else goes, no link is followed."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.disk import writing
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.history import noted
from orchestrator.history.named import folder_of
from orchestrator.results.folder import RunFolder
from orchestrator.results.journal import try_hold
from orchestrator.workspace import Workspace

_GOING = ".deleted-"  # how the name of a folder begins that is being deleted
_MOST_TRIES = 1_000


@dataclass(frozen=True, kw_only=True)
class Doomed:
    """A run that may be deleted: its folder, and whether it was made here."""

    path: Path
    is_ours: bool

    @property
    def id(self) -> str:
        """The name of its folder."""
        return self.path.name


def find(workspace: Workspace, named: str, *, standing: Iterable[str] = ()) -> Doomed:
    """The run of that id, unique beginning of one, or path below `results`, if it may be deleted.

    UsageError for one that lies elsewhere, is a link, is in progress, has hosts that are up (`standing`: the ids of such
    runs), or was not made here and is not named by its path.
    """
    path = folder_of(workspace, named)
    folder = RunFolder(path)
    if path.is_symlink():
        raise UsageError(f"{path} is a link, and orch deletes folders alone", hint=f"remove the link: rm {path}")
    if folder.is_in_progress:
        raise UsageError(f"run {path.name} is in progress", hint="end it first: orch teardown, or Ctrl-C where it runs")
    if path.name in set(standing):
        raise UsageError(f"hosts of run {path.name} are up", hint=f"take them down first: orch teardown {path.name}")
    ours = folder.is_ours
    if not ours and "/" not in named:
        raise UsageError(
            f"run {path.name} was not made here",
            hint=f"to delete it all the same, name it by its path: orch delete {workspace.results / path.name}",
        )
    return Doomed(path=path, is_ours=ours)


def delete(workspace: Workspace, doomed: Doomed, reports: Iterable[Path] = ()) -> None:
    """Delete it and its `reports`.

    MissingError for what the disk refuses; UsageError where a process has begun to write it meanwhile.
    """
    journal = doomed.path / "journal.jsonl"
    hold = None
    with suppress(InvalidMeasurement):  # no journal: nobody can write it
        hold = try_hold(journal)
        if hold is None:
            raise UsageError(f"run {doomed.id} is in progress", hint="wait until it has ended")
    try:
        with writing(doomed.path, "try again"):
            going = workspace.results / f"{_GOING}{secrets.token_hex(8)}"
            doomed.path.rename(going)  # at once: a kill leaves a run, or none
            _remove(going)
    finally:
        if hold is not None:
            hold.close()
    with writing(workspace.state, "try again"):
        for report in reports:
            report.unlink(missing_ok=True)
        noted.forget(workspace.notes, doomed.id)


def sweep(workspace: Workspace) -> int:
    """Remove what a killed `orch delete` left; how many folders that were."""
    left = [path for path in workspace.results.glob(f"{_GOING}*") if path.is_dir() and not path.is_symlink()]
    for path in left:
        with writing(path, "try again"):
            _remove(path)
    return len(left)


def _remove(folder: Path) -> None:
    """Remove a folder, which another `orch delete` may take for one that was left, and sweep; no link is followed."""
    for _ in range(_MOST_TRIES):
        if not folder.exists():
            return
        with suppress(FileNotFoundError):  # the other one was quicker with a file: go on with what there is
            shutil.rmtree(folder)
