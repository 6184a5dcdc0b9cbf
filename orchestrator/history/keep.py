"""Opens the index and brings it up to date with the run folders: only those that changed since are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeAlias

from sqlalchemy.exc import OperationalError, SQLAlchemyError

from orchestrator.errors import MissingError
from orchestrator.history import index
from orchestrator.history.index import Index
from orchestrator.history.record import RunRecord
from orchestrator.workspace import Workspace

# Files of a run folder whose change means that it is read anew.
_FILES = ("journal.jsonl", "manifest.json", "summary.json", "plan.json")
_AT_ONCE = 20  # folders that are read before others may write: what is read is kept if the rest is cut

Tell: TypeAlias = Callable[[int, int], None]


@contextmanager
def history(workspace: Workspace, *, tell: Tell = lambda *_: None) -> Iterator[Index]:
    """The index, up to date; in memory where none can be kept, which takes longer.

    UsageError for a file in its place that is no index, MissingError for one that is damaged. `tell` gets how many of the
    folders that changed are read, and how many there are.
    """
    opened = _opened(workspace, tell)
    try:
        yield opened
    finally:
        opened.close()


def _opened(workspace: Workspace, tell: Tell) -> Index:
    path = workspace.history
    if not workspace.results.is_dir() and not path.exists():
        return _of(index.in_memory(), workspace, tell)  # nothing to keep: no folder is made for it
    try:
        workspace.state.mkdir(exist_ok=True)
        return _of(index.open_file(path), workspace, tell)
    except (OSError, MissingError, OperationalError):  # it is locked or read-only, or no folder can be made
        return _of(index.in_memory(), workspace, tell)
    except SQLAlchemyError as error:
        why = str(getattr(error, "orig", error))
        raise MissingError(
            f"{path} is damaged, or no index of runs: {why}", hint="remove it: it is made anew from the runs"
        ) from error


def _of(opened: Index, workspace: Workspace, tell: Tell) -> Index:
    try:
        update(opened, workspace, tell)
        return opened
    except BaseException:
        opened.close()
        raise


def update(opened: Index, workspace: Workspace, tell: Tell) -> None:
    """Read what changed since the index was last brought up to date."""
    known, present = opened.signatures(), folders(workspace)
    changed = [name for name, signature in present.items() if known.get(name) != signature]
    gone = known.keys() - present.keys()
    for first in range(0, len(changed), _AT_ONCE):
        with opened.writing():
            for done, name in enumerate(changed[first : first + _AT_ONCE], start=first):
                tell(done, len(changed))
                opened.put(_read(workspace, name), workspace.results / name, present[name])
    if gone:
        with opened.writing():
            for name in gone:
                opened.forget(name)


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
