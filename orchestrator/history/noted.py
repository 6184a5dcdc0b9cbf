"""Notes and tags of runs: the user's own words, in `.orch/notes/<run>.json`, which no rebuilt index can lose.

They lie beside the notes of runs that were made here, not in run folders, which may be somebody else's.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from orchestrator.disk import whole_file, writing
from orchestrator.errors import MissingError, UsageError
from orchestrator.history.record import Note
from orchestrator.strict_json import read_json

SCHEMA_VERSION = 1
_MOST_CHARACTERS = 2_000
_MOST_OF_A_TAG = 60


@dataclass(frozen=True, kw_only=True)
class Annotations:
    """What somebody wrote on one run."""

    notes: tuple[Note, ...] = ()
    tags: tuple[str, ...] = ()


def signature(folder: Path) -> str:
    """What distinguishes the files from changed ones; "" where there are none."""
    stats = ((path.name, path.stat()) for path in _files(folder))
    return ";".join(f"{name}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats)


def read_all(folder: Path) -> tuple[dict[str, Annotations], list[str]]:
    """The annotations by run, and a clause for each file that cannot be read."""
    annotations, troubles = {}, []
    for path in _files(folder):
        try:
            annotations[path.stem] = _read(path)
        except (ValueError, OSError) as error:
            troubles.append(f"{path} cannot be read: {error}")
    return annotations, troubles


def read(folder: Path, run: str) -> Annotations:
    """What was written on a run; MissingError where its file cannot be read: nothing is written over it."""
    path = folder / f"{run}.json"
    try:
        return _read(path)
    except FileNotFoundError:
        return Annotations()
    except (ValueError, OSError) as error:
        raise MissingError(f"{path} cannot be read: {error}", hint="mend or remove it, then try again") from error


def add_note(folder: Path, run: str, text: str, *, at: str) -> Annotations:
    """Write a sentence on a run; UsageError for an empty or very long one."""
    text = text.replace("\r\n", "\n").strip()
    if not text or len(text) > _MOST_CHARACTERS:
        raise UsageError(
            f"a note has between 1 and {_MOST_CHARACTERS:,} characters; this one has {len(text):,}",
            hint="shorten it" if text else "write one: orch runs note RUN TEXT; without TEXT, its notes are shown",
        )
    return _change(folder, run, lambda before: replace(before, notes=(*before.notes, Note(at=at, text=text))))


def change_tags(folder: Path, run: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Annotations:
    """Add tags to a run and remove some, all of them or none.

    UsageError for one that is to be removed and is not there, and for one that is no word.
    """
    added, removed = set(add), set(remove)
    for tag in added | removed:
        if not is_tag(tag):
            raise UsageError(
                f"{tag!r} cannot be a tag",
                hint=f"a tag is a word of at most {_MOST_OF_A_TAG} letters, digits and . _ - / : +",
            )

    def changed(before: Annotations) -> Annotations:
        if missing := sorted(removed - added - set(before.tags)):
            known = ", ".join(before.tags) or "none"
            raise UsageError(f"run {run} has no tag {missing[0]!r}", hint=f"its tags: {known}")
        return replace(before, tags=tuple(sorted((added | set(before.tags)) - removed)))

    return _change(folder, run, changed)


def forget(folder: Path, run: str) -> None:
    """Remove what was written on a run that is gone."""
    (folder / f"{run}.json").unlink(missing_ok=True)


def is_tag(text: str) -> bool:
    """Whether a text is a word as tags are.

    >>> is_tag("v1.2"), is_tag("two words"), is_tag("-x")
    (True, False, False)
    """
    is_word = all(char.isalnum() or char in "._-/:+" for char in text)
    return 0 < len(text) <= _MOST_OF_A_TAG and is_word and text[0] != "-"


def _change(folder: Path, run: str, change: Callable[[Annotations], Annotations]) -> Annotations:
    """Write what `change` makes of a run's annotations; one process at a time, whole or not at all."""
    with writing(folder, "try again"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        after = change(read(folder, run))
        with writing(folder, "try again"):
            if after == Annotations():
                forget(folder, run)
            else:
                document = {"schema_version": SCHEMA_VERSION, "run": run, **asdict(after)}
                with whole_file(folder / f"{run}.json") as partial:
                    partial.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return after
    finally:
        os.close(lock)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("[!.]*.json") if path.is_file())


def _read(path: Path) -> Annotations:
    document = read_json(path)
    try:
        if document["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"not the notes of a run of version {SCHEMA_VERSION}")
        notes = tuple(Note(at=str(note["at"]), text=str(note["text"])) for note in document["notes"])
        return Annotations(notes=notes, tags=tuple(map(str, document["tags"])))
    except (TypeError, LookupError) as error:
        raise ValueError("it has no notes and tags") from error
