"""Compares everything that a stored run's figures rest on with what was recorded, and lists what is missing."""

from __future__ import annotations

import hashlib
from pathlib import Path

from orchestrator.errors import UsageError
from orchestrator.results.documents import ALTERED, Damaged, digest, inside, whole_file
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import TurnRecord


def verify(folder: RunFolder) -> tuple[str, ...]:
    """Read every file of a run and hold it against what was written down; return the files' paths.

    InvalidMeasurement names the first file that is missing or not as it was written. UsageError while the run is in
    progress.
    """
    if folder.journal_state().state == "running" and folder.is_in_progress:
        raise UsageError(f"run {folder.id} is still in progress", hint="wait until it has ended")
    manifest = folder.manifest()
    folder.manifest_bytes()
    journal_state = folder.journal_state()
    begun = tuple(journal_state.begin.get("files", {}))
    for samples in sorted(journal_state.samples - manifest.files.keys()):
        raise Damaged(inside(folder.path, samples), "no SHA-256 of it was ever written down")
    printed = {turn.raw: turn.sha256 for turn in journal_state.turns if turn.sha256}
    for name, sha256 in {**manifest.files, **printed}.items():
        if digest(path := inside(folder.path, name)) != sha256:
            raise Damaged(path, ALTERED)
    return ("journal.jsonl", "manifest.json", *begun, *manifest.files, *printed)


def keep_output(folder: Path, turn: TurnRecord, text: str) -> str:
    """Write what was printed in a turn; its SHA-256. MissingError when the disk is full."""
    content = text.encode()
    path = inside(folder, turn.raw)
    path.parent.mkdir(exist_ok=True)
    with whole_file(path) as partial:
        partial.write_bytes(content)
    return hashlib.sha256(content).hexdigest()
