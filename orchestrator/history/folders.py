"""Run folders of `results` as a user deletes them: a deleted run goes with its report, and nothing else does."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from orchestrator.disk import writing
from orchestrator.errors import UsageError
from orchestrator.results.folder import RunFolder
from orchestrator.workspace import Workspace


def find_deletable(workspace: Workspace, named: str, *, standing: Iterable[str] = ()) -> RunFolder:
    """The run of that id, unique beginning of one, or path below `results`, if it may be deleted.

    UsageError for one that lies elsewhere, is a link, is in progress, or has hosts that are up (`standing`: the ids of such
    runs).
    """
    folder = RunFolder.open(named, root=workspace.results)
    path = folder.path
    if path.parent.resolve() != workspace.results.resolve() or path.is_symlink():
        raise UsageError(f"{path} does not lie in {workspace.results}/", hint="orch deletes folders there alone")
    if folder.is_in_progress:
        raise UsageError(f"run {path.name} is in progress", hint="end it first: orch teardown, or Ctrl-C where it runs")
    if path.name in set(standing):
        raise UsageError(f"hosts of run {path.name} are up", hint=f"take them down first: orch teardown {path.name}")
    return folder


def delete(folder: RunFolder, reports: Iterable[Path] = ()) -> None:
    """Delete a run with its `reports`; MissingError for what the disk refuses."""
    with writing(folder.path, "try again"):
        shutil.rmtree(folder.path)
        for report in reports:
            report.unlink(missing_ok=True)
