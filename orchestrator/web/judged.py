"""Runs with what analysis says of them: found by name, judged once, and kept while the folder stays as it is."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from orchestrator.analysis.summarise import summarise
from orchestrator.analysis.summary import RunSummary
from orchestrator.clock import SYSTEM, Clock
from orchestrator.errors import OrchError, UsageError
from orchestrator.history.named import folder_of
from orchestrator.measure.in_progress import how_unfinished
from orchestrator.results.documents import read_sealed
from orchestrator.results.folder import LATEST, RunFolder
from orchestrator.results.names import is_run
from orchestrator.web.refused import Refused
from orchestrator.workspace import Workspace

T = TypeVar("T")
_MOST_KEPT = 16
_WHILE_MEASURED_S = 15.0  # so long what was judged of a run in progress is shown: its folder changes with each trial
_MOST_LETTERS = 255  # of a folder's name
_TELLING = ("journal.jsonl", "manifest.json", "plan.json", "summary.json")
_SAMPLES = ("samples", "baselines")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A run folder, its summary, and what a reader must know of it, a sentence each. `made` holds what was made of it.

    `is_in_progress`: it was, when it was judged.
    """

    folder: RunFolder
    summary: RunSummary
    remarks: tuple[str, ...]
    signature: tuple[Any, ...]
    is_in_progress: bool = False
    judged_s: float = 0.0  # monotonic
    made: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made at most once while the run stays as it is."""
        if name not in self.made:
            self.made[name] = make()
        found: T = self.made[name]
        return found


class JudgedRuns:
    """The newest few that were looked at."""

    def __init__(self, workspace: Workspace, *, clock: Clock = SYSTEM) -> None:
        self._workspace = workspace
        self._clock = clock
        self._kept: OrderedDict[str, Judged] = OrderedDict()
        self._lock = threading.Lock()

    def judged(self, run: str) -> Judged:
        """The run judged; errors as `path_of`, and those of `summarise`. It may take as long as `orch report`."""
        path = path_of(self._workspace, run)
        signature = _signature(path)
        with self._lock:
            kept = self._kept.get(path.name)
            if kept is None or (kept.signature != signature and not self._is_new_enough(kept)):
                found = _judge(path, self._workspace, signature)
                kept = self._kept[path.name] = replace(found, judged_s=self._clock.monotonic_s())
            self._kept.move_to_end(path.name)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return kept

    def _is_new_enough(self, kept: Judged) -> bool:
        """Whether it is of a run that goes on, and was judged a moment ago: to judge it again would cost the run more."""
        is_new = self._clock.monotonic_s() - kept.judged_s < _WHILE_MEASURED_S
        return is_new and kept.is_in_progress and kept.folder.is_in_progress


def path_of(workspace: Workspace, run: str) -> Path:
    """The folder of that id, or of `latest`, below `results`.

    Refused for one that is not there, and for a link: what it points to may be anything.
    """
    if not run or len(run) > _MOST_LETTERS or run.startswith(".") or any(char in run for char in "/\\\0"):
        raise Refused(404, "that is no id of a run", hint="the list of runs is at /")
    path = workspace.results / run
    try:
        if run != LATEST and not is_run(path):  # no other folder is looked at for it
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
    is_in_progress = folder.is_in_progress
    is_as_judged = _changed_ns(path) <= _changed_of(path / "summary.json")  # else samples may be other ones since
    summary = (stored_summary(folder) if is_as_judged else None) or summarise(folder)
    if is_in_progress:
        remarks.append("This run is still in progress: what follows is of the trials stored so far.")
    else:
        with suppress(OrchError):
            left = how_unfinished(folder)
            if left is not None:
                how = f" `orch run --resume {folder.id}` continues it." if folder.is_ours else ""
                remarks.append(f"This run was interrupted: {left.sentence()}.{how}")
    if folder.manifest().files and not any((path / name).is_dir() for name in _SAMPLES):
        remarks.append("Its samples are not here: the figures are those that analysis left, and cannot be made again.")
    if (why := folder.why_not_ours()) is not None:
        remarks.append(f"This run is only read: {why}.")
    return Judged(
        folder=folder,
        summary=summary,
        remarks=tuple(remarks),
        signature=signature,
        is_in_progress=is_in_progress,
    )


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
    return (*found, _changed_ns(path))


def _changed_ns(path: Path) -> int:
    """When a file of samples last changed, came or went: by ctime, which nobody sets back. No file is read."""
    newest, folders = 0, [path / name for name in _SAMPLES]
    while folders:
        folder = folders.pop()
        with suppress(OSError):
            newest = max(newest, _changed_of(folder))
            for entry in os.scandir(folder):
                newest = max(newest, entry.stat(follow_symlinks=False).st_ctime_ns)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
    return newest


def _changed_of(path: Path) -> int:
    try:
        return path.lstat().st_ctime_ns
    except OSError:
        return 0
