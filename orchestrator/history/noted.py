"""Notes and tags of runs: the user's own words, in `.orch/notes/<run>.json`, which no rebuilt index can lose.

They lie beside the notes of runs that were made here, not in run folders, which may be signed or somebody else's.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from orchestrator.disk import whole_file, writing
from orchestrator.errors import MissingError, UsageError
from orchestrator.history.record import Note
from orchestrator.strict_json import read_json

SCHEMA_VERSION = 1
_MOST_BYTES = 1 << 24  # of a file: more than the longest notes take, as many as there may be
_MOST_NOTES = 1_000
MOST_CHARACTERS = 2_000
_MOST_TAGS = 100
_MOST_OF_A_TAG = 60


@dataclass(frozen=True, kw_only=True)
class Annotations:
    """What somebody wrote on one run."""

    notes: tuple[Note, ...] = ()
    tags: tuple[str, ...] = ()


def signature(folder: Path) -> str:
    """What tells the files from changed ones; "" where there are none."""
    return ";".join(f"{path.name}:{of.st_ino}:{of.st_size}:{of.st_mtime_ns}" for path, of in _files(folder))


def read_all(folder: Path) -> tuple[dict[str, Annotations], list[str]]:
    """What was written on each run, and a clause for each file that cannot be read."""
    found, troubles = {}, []
    for path, _ in _files(folder):
        try:
            found[path.stem] = _read(path)
        except (ValueError, OSError) as error:
            troubles.append(f"{path} cannot be read: {error}")
    return found, troubles


def read(folder: Path, run: str) -> Annotations:
    """What was written on a run; MissingError where its file cannot be read: nothing is written over it."""
    path = _place(folder, run)
    try:
        return _read(path)
    except FileNotFoundError:
        return Annotations()
    except (ValueError, OSError) as error:
        raise MissingError(f"{path} cannot be read: {error}", hint="mend or remove it, then try again") from error


def add_note(folder: Path, run: str, text: str, *, at: str) -> Annotations:
    """Write a sentence on a run; UsageError for an empty or very long one."""
    text = text.replace("\r\n", "\n").strip()  # a browser sends both at the end of a line
    if not text or len(text) > MOST_CHARACTERS:
        raise UsageError(
            f"a note has between 1 and {MOST_CHARACTERS:,} characters; this one has {len(text):,}",
            hint="shorten it" if text else "write one: orch note RUN TEXT; without TEXT, its notes are shown",
        )
    with _changing(folder, run) as (before, write):
        if len(before.notes) >= _MOST_NOTES:
            raise UsageError(f"run {run} has {_MOST_NOTES:,} notes already", hint=f"remove some: {_place(folder, run)}")
        after = replace(before, notes=(*before.notes, Note(at=at, text=text)))
        write(after)
    return after


def change_tags(folder: Path, run: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Annotations:
    """Add tags to a run and remove some, all of them or none.

    UsageError for one that is to be removed and is not there, and for one that is no word.
    """
    added, removed = tuple(dict.fromkeys(add)), tuple(dict.fromkeys(remove))
    for tag in (*added, *removed):
        if not is_tag(tag):
            raise UsageError(
                f"{tag!r} cannot be a tag",
                hint=f"a tag is a word of at most {_MOST_OF_A_TAG} letters, digits and . _ - / : +",
            )
    with _changing(folder, run) as (before, write):
        every = {*before.tags, *added}
        missing = [tag for tag in removed if tag not in every]
        if missing:
            known = ", ".join(before.tags) or "none"
            raise UsageError(f"run {run} has no tag {missing[0]!r}", hint=f"its tags: {known}")
        after = replace(before, tags=tuple(sorted(every.difference(removed))))
        if len(after.tags) > _MOST_TAGS:
            raise UsageError(f"run {run} would have more than {_MOST_TAGS} tags", hint="remove some: --remove")
        write(after)
    return after


def forget(folder: Path, run: str) -> None:
    """Remove what was written on a run that is gone; nothing where the folder is a link, and its files are others'."""
    if not folder.parent.is_symlink() and not folder.is_symlink():
        _place(folder, run).unlink(missing_ok=True)


def is_tag(text: str) -> bool:
    """Whether a text is a word as tags are.

    >>> is_tag("v1.2"), is_tag("two words"), is_tag("-x")
    (True, False, False)
    """
    is_word = all(char.isalnum() or char in "._-/:+" for char in text)
    return 0 < len(text) <= _MOST_OF_A_TAG and is_word and text[0] != "-"


@contextmanager
def _changing(folder: Path, run: str) -> Iterator[tuple[Annotations, Any]]:
    """What a run has, and what writes it anew; one process at a time, whole or not at all."""
    with writing(folder, "try again"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)

        def write(after: Annotations) -> None:
            with writing(folder, "try again"):
                if after == Annotations():
                    forget(folder, run)
                else:
                    document = {"schema_version": SCHEMA_VERSION, "run": run, **asdict(after)}
                    with whole_file(_place(folder, run)) as partial:
                        partial.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

        yield read(folder, run), write
    finally:
        os.close(lock)


def _place(folder: Path, run: str) -> Path:
    return folder / f"{run}.json"


def _files(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """The files, by name; links and what is no file are left out."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    return [
        (folder / entry.name, entry.stat(follow_symlinks=False))
        for entry in entries
        if entry.name.endswith(".json") and not entry.name.startswith(".") and entry.is_file(follow_symlinks=False)
    ]


def _read(path: Path) -> Annotations:
    document = read_json(path, _MOST_BYTES)
    if not isinstance(document, dict) or document.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"not the notes of a run of version {SCHEMA_VERSION}")
    notes, tags = document.get("notes"), document.get("tags")
    if not isinstance(notes, list) or not isinstance(tags, list):
        raise ValueError("it has no notes and tags")
    if not all(isinstance(tag, str) and is_tag(tag) for tag in tags):
        raise ValueError("a tag is no word")
    return Annotations(notes=tuple(_note(note) for note in notes), tags=tuple(dict.fromkeys(tags)))


def _note(raw: Any) -> Note:
    if not isinstance(raw, dict) or not isinstance(raw.get("text"), str) or not isinstance(raw.get("at"), str):
        raise ValueError("a note has no text and time")
    return Note(at=raw["at"], text=raw["text"][:MOST_CHARACTERS])
