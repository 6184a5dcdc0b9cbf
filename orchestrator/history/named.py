"""Which folder below `results` somebody means: a run, or an imported file of stamps."""

from __future__ import annotations

import os
from pathlib import Path

from orchestrator.errors import UsageError
from orchestrator.history import imported
from orchestrator.results.folder import RunFolder
from orchestrator.results.names import few, run_folders
from orchestrator.workspace import Workspace


def folder_of(workspace: Workspace, named: str) -> Path:
    """The folder of that id, unique beginning of one, path, or `latest` (even one without a trial): an entry of `results`.

    UsageError where there is none, and for one that lies elsewhere.
    """
    path = _found(workspace, named)
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - a link must stay one
    is_below = absolute.parent.resolve() == workspace.results.resolve()
    if not absolute.name or not is_below or not os.path.lexists(workspace.results / absolute.name):
        raise UsageError(
            f"{path} does not lie in {workspace.results}/",
            hint=f"`orch import {path}` copies it there; this leaves it alone",
        )
    return workspace.results / absolute.name


def _found(workspace: Workspace, named: str) -> Path:
    """As `RunFolder.open`, of imported files, too."""
    if "/" in named:
        if imported.is_imported(Path(named)):
            return Path(named)
    else:
        known = sorted(path for path in workspace.results.glob("imported-*") if imported.is_imported(path))
        alike = [path for path in known if path.name.startswith(named)]
        if len(alike) == 1 or workspace.results / named in alike:
            return workspace.results / named if workspace.results / named in alike else alike[0]
        if alike and not any(folder.name.startswith(named) for folder in run_folders(workspace.results)):
            several = f"{named!r} is the beginning of several imported files: {few([path.name for path in alike])}"
            raise UsageError(several, hint="type more characters of the id")
    return RunFolder.open(named, root=workspace.results, even_empty=True).path
