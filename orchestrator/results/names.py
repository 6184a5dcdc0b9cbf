"""Which folders are runs, by their names and files alone: light, as shells ask while somebody types."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

MANIFEST, JOURNAL = "manifest.json", "journal.jsonl"


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
