"""Runs with what analysis says of them: found by name, judged once, and kept while the folder stays as it is."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from orchestrator.analysis.summarise import summarise
from orchestrator.analysis.summary import RunSummary
from orchestrator.errors import OrchError, UsageError
from orchestrator.history import imported
from orchestrator.history.named import folder_of
from orchestrator.measure.in_progress import how_unfinished
from orchestrator.results.documents import read_sealed
from orchestrator.results.folder import LATEST, RunFolder
from orchestrator.results.names import is_run
from orchestrator.web.refused import Refused
from orchestrator.workspace import Workspace

T = TypeVar("T")
_MOST_KEPT = 16
_MOST_LETTERS = 255  # of a folder's name
_TELLING = ("journal.jsonl", "manifest.json", "plan.json", "imported.json")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A run folder, its summary, and what a reader must know of it, a sentence each. `made` holds what was made of it."""

    folder: RunFolder
    summary: RunSummary
    remarks: tuple[str, ...]
    signature: tuple[Any, ...]
    made: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made at most once while the run stays as it is."""
        if name not in self.made:
            self.made[name] = make()
        found: T = self.made[name]
        return found


class JudgedRuns:
    """The newest few that were looked at."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._kept: OrderedDict[str, Judged] = OrderedDict()
        self._lock = threading.Lock()

    def judged(self, run: str) -> Judged:
        """The run judged; errors as `path_of`, and those of `summarise`. It may take as long as `orch report`."""
        path = path_of(self._workspace, run)
        if imported.is_imported(path):
            raise Refused(
                404,
                f"{path.name} is an imported file of stamps: nothing can be judged",
                hint="its page shows what it holds",
            )
        signature = _signature(path)
        with self._lock:
            kept = self._kept.get(path.name)
            if kept is None or kept.signature != signature:
                kept = _judge(path, self._workspace, signature)
                self._kept[path.name] = kept
            self._kept.move_to_end(path.name)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return kept


def path_of(workspace: Workspace, run: str) -> Path:
    """The folder of that id, or of `latest`, below `results`.

    Refused for one that is not there, and for a link: what it points to may be anything.
    """
    if not run or len(run) > _MOST_LETTERS or run.startswith(".") or any(char in run for char in "/\\\0"):
        raise Refused(404, "that is no id of a run", hint="the list of runs is at /")
    path = workspace.results / run
    try:
        if run != LATEST and not (is_run(path) or imported.is_imported(path)):  # no other folder is looked at for it
            raise UsageError("there is no such folder")
        path = folder_of(workspace, run if run == LATEST else str(path))
    except (OrchError, OSError, ValueError) as error:
        raise Refused(404, f"no run {run!r} is here", hint="the list of runs is at /") from error
    if path.is_symlink():
        raise Refused(
            404, f"{path.name} is a link, and this page shows folders alone", hint="`orch import` copies a run"
        )
    return path


def _judge(path: Path, workspace: Workspace, signature: tuple[Any, ...]) -> Judged:
    folder = RunFolder(path, root=workspace.results)
    remarks = list(folder.remarks())
    summary = stored_summary(folder) or summarise(folder)
    if folder.is_in_progress:
        remarks.append("This run is still in progress: what follows is of the trials stored so far.")
    else:
        with suppress(OrchError):
            left = how_unfinished(folder)
            if left is not None:
                remarks.append(f"This run was interrupted: {left.sentence()}.")
    if (why := folder.why_not_ours()) is not None:
        remarks.append(f"This run is only read: {why}.")
    return Judged(folder=folder, summary=summary, remarks=tuple(remarks), signature=signature)


def stored_summary(folder: RunFolder) -> RunSummary | None:
    """What analysis left of a run that was made here, and of its present state; None where there is none."""
    if folder.is_in_progress or not folder.is_ours:
        return None
    try:
        found = RunSummary.from_dict(read_sealed(folder.path / "summary.json"))
        is_its_own = found.manifest_sha256 == hashlib.sha256(folder.manifest_bytes()).hexdigest()
    except (OSError, ValueError, OrchError):
        return None
    return found if is_its_own else None


def _signature(path: Path) -> tuple[Any, ...]:
    """What tells a folder from a changed one."""
    found: list[Any] = []
    for name in _TELLING:
        with suppress(OSError):
            status = (path / name).lstat()
            found.append((name, status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)
