"""Opens the index and brings it up to date with the run folders: only those that changed since are read."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace

from sqlalchemy.exc import SQLAlchemyError

from orchestrator.history import index
from orchestrator.history.index import Index
from orchestrator.history.record import RunRecord
from orchestrator.workspace import Workspace

# Files of a run folder whose change means that it is read anew.
_FILES = ("journal.jsonl", "manifest.json", "summary.json", "plan.json")
_AT_ONCE = 20  # folders that are read before others may write: what is read is kept if the rest is cut
_FEW = 20  # folders that are read without a message
_log = logging.getLogger(__name__)


@contextmanager
def history(workspace: Workspace) -> Iterator[Index]:
    """The index, up to date; in memory where none can be kept, which takes longer."""
    with closing(_opened(workspace)) as opened:
        yield opened


def _opened(workspace: Workspace) -> Index:
    if workspace.results.is_dir() or workspace.history.exists():  # or else there is nothing to keep
        with suppress(OSError, SQLAlchemyError):  # it is locked, read-only or damaged, or no folder can be made
            workspace.state.mkdir(exist_ok=True)
            return _updated(index.open_file(workspace.history), workspace)
    return _updated(index.in_memory(), workspace)


def _updated(opened: Index, workspace: Workspace) -> Index:
    """Read what changed since the index was last brought up to date."""
    known, present = opened.signatures(), folders(workspace)
    changed = [name for name, signature in present.items() if known.get(name) != signature]
    if len(changed) > _FEW:
        _log.info("reading %d runs", len(changed))
    gone = known.keys() - present.keys()
    for first in range(0, len(changed), _AT_ONCE):
        with opened.writing():
            for name in changed[first : first + _AT_ONCE]:
                opened.put(_read(workspace, name), workspace.results / name, present[name])
    if gone:
        with opened.writing():
            for name in gone:
                opened.forget(name)
    return opened


def folders(workspace: Workspace) -> dict[str, str]:
    """Every run below `results`, by name, with its `signature` and that of its notes."""
    try:
        names = [name for name in os.listdir(workspace.results) if not name.startswith(".")]  # noqa: PTH208 - 5,000 of them
    except OSError:
        return {}
    signatures = {name: signature(f"{workspace.results}/{name}") for name in names}
    return {name: f"{each};{_signature(f'{workspace.notes}/{name}.txt')}" for name, each in signatures.items() if each}


def signature(folder: str) -> str:
    """What distinguishes a run from a changed one: inodes, sizes, times of its files; "" of a folder that is no run."""
    parts = [_signature(f"{folder}/{file}") for file in _FILES]
    return ";".join(parts) if parts[0] or parts[1] else ""


def _signature(path: str) -> str:
    try:
        status = os.lstat(path)
    except OSError:
        return ""
    return f"{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"


def _read(workspace: Workspace, name: str) -> RunRecord:
    """A folder's record; what reads it is loaded only where one is to be read."""
    from orchestrator.history import run_record
    from orchestrator.history.run_notes import notes_on
    from orchestrator.results.folder import RunFolder

    record = run_record.read_run(RunFolder(workspace.results / name))
    return replace(record, notes=notes_on(workspace, name))
