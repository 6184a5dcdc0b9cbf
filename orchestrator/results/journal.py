"""The journal: one JSON line per event, on the disk before the run goes on. While a run lives, it is the truth."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator.results.documents import disk_full_is_an_error


class Journal:
    """Appends events, and reads them back; a line that a kill cut short is ignored, and removed before the next append."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checked = False

    def append(self, event: dict[str, Any], *, sync: bool = True) -> None:
        """Write one event; with `sync` it is on the disk when this returns. MissingError when the disk is full."""
        line = json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        with disk_full_is_an_error(self.path):
            self._drop_torn_line()
            size = self.path.stat().st_size if self.path.exists() else 0
            try:
                with self.path.open("ab", buffering=0) as handle:
                    if handle.write(line) != len(line):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
                    if sync:
                        os.fsync(handle.fileno())
            except OSError:
                os.truncate(self.path, size)
                raise

    def events(self) -> Iterator[dict[str, Any]]:
        """Every whole event, oldest first."""
        if not self.path.exists():
            return
        with self.path.open("rb") as handle:
            for line in handle:
                event = _event(line)
                if event is not None:
                    yield event

    def _drop_torn_line(self) -> None:
        if self._checked or not self.path.exists():
            self._checked = True
            return
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        if end != len(content):
            os.truncate(self.path, end)
        self._checked = True


def _event(line: bytes) -> dict[str, Any] | None:
    if not line.endswith(b"\n"):
        return None
    try:
        event = json.loads(line)
    except ValueError:  # a power cut can leave a hole of zero bytes where a line was
        return None
    return event if isinstance(event, dict) and "event" in event else None
