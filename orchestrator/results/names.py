"""Which folders are runs, by their names and files alone: light, as shells read it while somebody types."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from orchestrator.errors import UsageError, nearest

MANIFEST, JOURNAL = "manifest.json", "journal.jsonl"
LATEST = "latest"
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


def not_one(word: str, root: Path, matches: Sequence[str], ids: Sequence[str]) -> UsageError:
    """The error for a word that is the beginning of several runs (`matches`), or of none of `ids`."""
    if matches:
        several = f"{word!r} is the beginning of several runs: {', '.join(matches[-_MOST_NAMED:])}"
        return UsageError(several, hint="type more characters of the run id")
    if not ids:
        return UsageError(f"no run {word!r}: there is none under {root}/", hint="`orch run FILE` makes one")
    near = [name for name in ids if word.casefold() in name.casefold()] or nearest(word, [LATEST, *ids])
    hint = (
        f"Did you mean {' or '.join(near[-_MOST_NAMED:])}?"
        if near
        else f"`orch runs` lists all; the newest is {ids[-1]}"
    )
    return UsageError(f"no run {word!r} under {root}/", hint=hint)
