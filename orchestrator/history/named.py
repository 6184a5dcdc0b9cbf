"""Which run folder below `results` a name means."""

from __future__ import annotations

import os
from pathlib import Path

from orchestrator.errors import UsageError
from orchestrator.results.folder import RunFolder
from orchestrator.workspace import Workspace


def folder_of(workspace: Workspace, named: str) -> Path:
    """The folder of that id, unique beginning of one, path, or `latest` (even one without a trial): an entry of `results`.

    UsageError where there is none, and for one that lies elsewhere.
    """
    path = RunFolder.open(named, root=workspace.results, even_empty=True).path
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - a link must stay one
    is_below = absolute.parent.resolve() == workspace.results.resolve()
    if not absolute.name or not is_below or not os.path.lexists(workspace.results / absolute.name):
        raise UsageError(
            f"{path} does not lie in {workspace.results}/",
            hint=f"`orch import {path}` copies it there; this leaves it alone",
        )
    return workspace.results / absolute.name
