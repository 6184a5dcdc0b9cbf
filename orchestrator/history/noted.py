"""Notes on runs: the user's own words, in `.orch/notes/<run>.json`, which no rebuilt index can lose.

They lie beside the notes of runs that were made here, not in run folders, which may be somebody else's.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

from orchestrator.disk import whole_file, writing
from orchestrator.errors import MissingError, UsageError
from orchestrator.history.record import Note
from orchestrator.strict_json import read_json

SCHEMA_VERSION = 2
_MOST_CHARACTERS = 2_000

Notes: TypeAlias = tuple[Note, ...]


def signature(folder: Path) -> str:
    """What distinguishes the files from changed ones; "" where there are none."""
    stats = ((path.name, path.stat()) for path in _files(folder))
    return ";".join(f"{name}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats)


def read_all(folder: Path) -> tuple[dict[str, Notes], list[str]]:
    """The notes by run, and a clause for each file that cannot be read."""
    notes, troubles = {}, []
    for path in _files(folder):
        try:
            notes[path.stem] = _read(path)
        except (ValueError, OSError) as error:
            troubles.append(f"{path} cannot be read: {error}")
    return notes, troubles


def read(folder: Path, run: str) -> Notes:
    """What was written on a run; MissingError where its file cannot be read: nothing is written over it."""
    path = folder / f"{run}.json"
    try:
        return _read(path)
    except FileNotFoundError:
        return ()
    except (ValueError, OSError) as error:
        raise MissingError(f"{path} cannot be read: {error}", hint="mend or remove it, then try again") from error


def add_note(folder: Path, run: str, text: str, *, at: str) -> Notes:
    """Write a sentence or a word on a run; UsageError for an empty or very long one. One process writes at a time."""
    text = text.replace("\r\n", "\n").strip()
    if not text or len(text) > _MOST_CHARACTERS:
        raise UsageError(
            f"a note has between 1 and {_MOST_CHARACTERS:,} characters; this one has {len(text):,}",
            hint="shorten it" if text else "write one: orch runs note RUN TEXT; without TEXT, its notes are shown",
        )
    with writing(folder, "try again"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        notes = (*read(folder, run), Note(at=at, text=text))
        document = {"schema_version": SCHEMA_VERSION, "run": run, "notes": [asdict(note) for note in notes]}
        with writing(folder, "try again"), whole_file(folder / f"{run}.json") as partial:
            partial.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return notes
    finally:
        os.close(lock)


def forget(folder: Path, run: str) -> None:
    """Remove what was written on a run that is gone."""
    (folder / f"{run}.json").unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("[!.]*.json") if path.is_file())


def _read(path: Path) -> Notes:
    document = read_json(path)
    try:
        if document["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"not the notes of a run of version {SCHEMA_VERSION}")
        return tuple(Note(at=str(note["at"]), text=str(note["text"])) for note in document["notes"])
    except (TypeError, LookupError) as error:
        raise ValueError("it has no notes") from error
