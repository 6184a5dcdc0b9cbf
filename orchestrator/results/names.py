"""Which folders are runs, by their names and files alone: light, as shells ask while somebody types."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from orchestrator.errors import UsageError, did_you_mean, nearest

MANIFEST, JOURNAL = "manifest.json", "journal.jsonl"
_MOST_NAMED = 12  # runs, in an error


def is_run(path: Path) -> bool:
    """Whether a folder holds a run, whole or begun."""
    with suppress(OSError):  # a folder that this user may not look into
        return (path / MANIFEST).is_file() or (path / JOURNAL).is_file()
    return False


def run_folders(root: Path) -> list[Path]:
    """Every run under `root`, oldest first; none where there is no such folder. OSError where it cannot be read.

    A name that begins with a point is of one that is being copied here, or deleted.
    """
    names = sorted(path for path in root.iterdir() if not path.name.startswith(".")) if root.is_dir() else []
    return [path for path in names if is_run(path)]


def not_one(word: str, root: Path, matches: Sequence[str], ids: Sequence[str], latest: str) -> UsageError:
    """The error for a word that is the beginning of several runs (`matches`, oldest first), or of none of `ids`."""
    if matches:
        left = len(matches) - _MOST_NAMED
        named = [*matches[-_MOST_NAMED:], *([f"and {left} earlier ones"] if left > 0 else [])]
        several = f"{word!r} is the beginning of several runs: {', '.join(named)}"
        return UsageError(several, hint="type more characters of the run id")
    known = [*ids, latest]
    is_short = len(ids) <= _MOST_NAMED or nearest(word, known)
    hint = did_you_mean(word, known) if is_short else f"`orch runs` lists the {len(ids)} that are here"
    return UsageError(f"no run {word!r} under {root}/", hint=hint)
