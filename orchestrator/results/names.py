"""Which folders are runs, by their names and files alone: light, as shells read it while somebody types."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from orchestrator.errors import UsageError, did_you_mean, nearest

MANIFEST, JOURNAL = "manifest.json", "journal.jsonl"
_MOST_NAMED = 5  # runs, in an error


def is_run(path: Path) -> bool:
    """Whether a folder holds a run, whole or begun. OSError where this user may not look into it."""
    return (path / MANIFEST).is_file() or (path / JOURNAL).is_file()


def run_folders(root: Path) -> list[Path]:
    """Every run under `root`, oldest first; none where there is no such folder. OSError where it cannot be read.

    A name that begins with a point is of one that is being copied here, or deleted.
    """
    names = sorted(path for path in root.iterdir() if not path.name.startswith(".")) if root.is_dir() else []
    folders: list[Path] = []
    for path in names:
        with suppress(OSError):
            folders += [path] if is_run(path) else []
    return folders


def not_one(word: str, root: Path, matches: Sequence[str], ids: Sequence[str], latest: str) -> UsageError:
    """The error for a word that is the beginning of several runs (`matches`), or of none of `ids`."""
    if matches:
        several = f"{word!r} is the beginning of several runs: {few(matches)}"
        return UsageError(several, hint="type more characters of the run id")
    if word.endswith((".yaml", ".yml")):
        return UsageError(
            f"{word!r} is an experiment, and not a run", hint=f"give a run's id, or `{latest}`: `orch runs`"
        )
    hint = did_you_mean(word, [latest]) if nearest(word, [latest]) else meant(word, ids)
    return UsageError(f"no run {word!r} under {root}/", hint=hint)


def few(ids: Sequence[str]) -> str:
    """Some of these ids, the newest, and how many more there are; all of them where they are few.

    >>> few(["a", "b"]), few(["a", "b", "c", "d", "e", "f", "g"])
    ('a, b', 'c, d, e, f, g and 2 more')
    """
    more = len(ids) - _MOST_NAMED
    return ", ".join(sorted(ids)[-_MOST_NAMED:]) + (f" and {more:,} more" if more > 0 else "")


def meant(word: str, ids: Sequence[str]) -> str:
    """Which run a word that begins no id may stand for: of that name, most like it, or else any; as a sentence.

    >>> meant("first", ["20261121-first-1a2b", "20261122-second-3c4d"])
    'Did you mean 20261121-first-1a2b?'
    """
    having = [name for name in ids if word and word.casefold() in name.casefold()]
    if len(having) > 1:
        return f"With {word!a} in the id: {few(having)}; `orch runs` lists all."
    near = having or nearest(word, ids, most=2)
    return f"Did you mean {' or '.join(near)}?" if near else f"Known: {few(ids)}; `orch runs` lists all."
