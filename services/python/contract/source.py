"""Which files are the source of the two ends in this language, and their digest: what ran on either end, edits included."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

_CACHES = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
_OWN = Path(__file__).resolve().parents[1].name  # the folders beside it are of other languages


def source_files(root: Path) -> list[Path]:
    """Every file of the package `services` in the folder `root` but other languages', caches left out, in order."""
    folder = root / "services"
    paths = (*folder.glob("*"), *(folder / _OWN).rglob("*"))
    return sorted(p for p in paths if p.is_file() and not _CACHES.intersection(p.parts))


def digest(parts: Iterable[bytes]) -> str:
    """SHA-256 over parts, each with its length before it; hexadecimal."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "big"))
        total.update(part)
    return total.hexdigest()


def source_digest(root: Path) -> str:
    """The digest of names and content of `source_files`."""
    files = source_files(root)
    return digest(part for p in files for part in (p.relative_to(root).as_posix().encode(), p.read_bytes()))
