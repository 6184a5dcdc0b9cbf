"""Which program wrote a report, closer than by its version: in a checkout many have the same one."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import orchestrator
import services

_ENDINGS = {".py", ".html", ".css", ".js", ".gz"}
_OF_SERVICES = ("*/manifest.json", "*/lines.json")


@cache
def digest() -> str:
    """SHA-256 over the files from which a page comes: the code of `orch`, its templates, and what the services declare."""
    root, ends = Path(orchestrator.__path__[0]), Path(services.__path__[0])
    files = [path for path in root.rglob("*") if path.suffix in _ENDINGS and path.is_file()]
    files += [path for pattern in _OF_SERVICES for path in ends.glob(pattern)]
    found = hashlib.sha256()
    for path in sorted(files):
        name = path.relative_to(root.parent if path.is_relative_to(root) else ends.parent).as_posix()
        found.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()
