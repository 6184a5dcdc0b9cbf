"""Which run folders were made here. A folder from elsewhere is only read, whatever it says of itself.

`.orch/made/<run-id>.json`, beside `results/`, holds what a copy cannot have: the device, inode and, where the file system
counts them, generation of the folder; and where the journal ends; and this user's own mark over all of it (`own_mark`).
Before each event the end that it has and the one that it will have are noted, so a kill between the two leaves one of
them. A copy, an unpacked archive, a folder that was put in its place, a note that somebody else wrote, and a journal that
was cut, changed or continued by anybody else are not ours. Losing the note or the key costs nothing but `--resume`,
`teardown` and `sign` of that run.
"""

from __future__ import annotations

import array
import fcntl
import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from orchestrator import own_mark
from orchestrator.disk import own_folder
from orchestrator.errors import InvalidMeasurement, MissingError, UsageError
from orchestrator.results import sizes
from orchestrator.results.documents import write_json
from orchestrator.results.hold import is_held
from orchestrator.results.journal import Journal
from orchestrator.strict_json import read_json
from orchestrator.workspace import made_beside

_LOG = logging.getLogger(__name__)
_FS_IOC_GETVERSION = 0x80087601 if array.array("l").itemsize == 8 else 0x80047601  # linux/fs.h
_ELSEWHERE = "its folder was not made here, or was copied, moved or changed since"
_LOOKS = 10  # at a journal that is being written meanwhile


class NotOurs(Exception):
    """Why a folder is only read, as a clause."""


def note(root: Path | None, folder: Path, ends: Sequence[str]) -> None:
    """Note that `folder` under `root` was made here and that its journal ends at one of `ends`, chain values.

    MissingError when the disk is full, or there can be no key.
    """
    about = {**_identity(folder), "ends": list(ends)}
    place = _place(root, folder)
    own_folder(place.parent)
    write_json(place, {**about, "mark": own_mark.mark("run", about)})


def is_made_here(root: Path | None, folder: Path) -> bool:
    """Whether `folder` stands where one was made here and was not replaced since, whatever its journal says."""
    try:
        _noted(root, folder)
    except (OSError, NotOurs):
        return False
    return True


def why_not_ours(root: Path | None, folder: Path, end: Callable[[], str]) -> str | None:
    """What speaks against `folder` being the one that was noted, its journal as it was left; `end` reads where it ends."""
    try:
        for _ in range(_LOOKS):
            noted = _noted(root, folder)
            if end() in noted["ends"]:
                return None
            if _noted(root, folder) == noted:
                return _ELSEWHERE
    except NotOurs as reason:
        return str(reason)
    except OSError:
        pass
    return _ELSEWHERE


def latest(root: Path, ids: Sequence[str], *, even_empty: bool = False) -> str:
    """The newest of `ids` that was made here, damaged or not; UsageError when none was.

    One that ended before a trial was made is passed over, unless `even_empty`: it was refused, or cut at once.
    """
    made = [name for name in reversed(ids) if is_made_here(root, root / name)]
    chosen = next((name for name in made if even_empty or not _is_empty(root / name)), None)
    if chosen is None:
        why = "that was made here has a trial" if made else "was made here"
        raise UsageError(f"no run under {root}/ {why}, so none is the latest", hint=f"name one: {', '.join(ids[-5:])}")
    mention(ids, chosen)
    return chosen


def _is_empty(folder: Path) -> bool:
    """Whether a run has ended, or was killed, before its journal held a trial; a damaged journal says nothing."""
    journal = Journal(folder / "journal.jsonl")
    try:
        events = journal.events()
        has_begun = next(events, None) is not None
        return has_begun and not is_held(journal.path) and not any(event["event"] == "trial" for event in events)
    except InvalidMeasurement:
        return False


def mention(ids: Sequence[str], chosen: str) -> None:
    """Say which runs sort after the one that was chosen as the latest of ours."""
    passed_over = [name for name in ids if name > chosen]
    if passed_over:
        named = ", ".join(passed_over[-3:]) + (f" and {len(passed_over) - 3} more" if len(passed_over) > 3 else "")
        _LOG.info("passed over as the latest run, without a trial, not made here, or changed since: %s", named)


def forget(root: Path | None, folder: Path) -> None:
    """Remove the note of a folder that is gone; nothing where notes lie behind a link, and are others' files."""
    place = _place(root, folder)
    if not place.parent.is_symlink() and not place.parent.parent.is_symlink():
        place.unlink(missing_ok=True)


def _noted(root: Path | None, folder: Path) -> dict[str, Any]:
    """The note of this very folder; NotOurs where there is none, it is of another folder, or not with our mark."""
    place = _place(root, folder)
    try:
        noted = read_json(place, sizes.NOTE)
    except (ValueError, FileNotFoundError) as error:
        raise NotOurs(_ELSEWHERE) from error
    if not isinstance(noted, dict) or not isinstance(noted.get("ends"), list):
        raise NotOurs(_ELSEWHERE)
    claimed = noted.pop("mark", None)
    if {key: value for key, value in noted.items() if key != "ends"} != _identity(folder):
        raise NotOurs(_ELSEWHERE)
    try:
        is_ours = own_mark.is_ours("run", noted, claimed)
    except MissingError as error:
        raise NotOurs(f"it is only read: {error.message}") from error
    if not is_ours:
        raise NotOurs(
            f"it is only read: {place} does not carry the mark of {own_mark.key_file()}; that key was lost or replaced, "
            "or somebody else wrote it"
        )
    return noted


def _place(root: Path | None, folder: Path) -> Path:
    """Where a folder's note lies; NotOurs for one that was opened without the folder of runs that it may be of."""
    if root is None:
        raise NotOurs(_ELSEWHERE)
    return made_beside(root) / f"{folder.resolve().name}.json"


def _identity(folder: Path) -> dict[str, Any]:
    status = folder.stat()
    return {
        "name": folder.resolve().name,
        "device": status.st_dev,
        "inode": status.st_ino,
        "generation": _generation(folder),
    }


def _generation(folder: Path) -> int | None:
    """What tells a folder from a later one with the same inode; None where the file system does not count it."""
    value = array.array("l", [0])
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(descriptor, _FS_IOC_GETVERSION, value, True)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return value[0]
