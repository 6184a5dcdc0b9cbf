"""Compares everything that a stored run's figures rest on with what was recorded, and lists what is missing."""

from __future__ import annotations

import os
from collections.abc import Set
from pathlib import Path

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.results import turns
from orchestrator.results.folder import RunFolder
from orchestrator.results.paths import ALTERED, damaged, inside, regular, samples_path

_BEGUN = ("plan.json", "experiment.yaml")


def verify(folder: RunFolder) -> tuple[str, ...]:
    """Read every file of a run and hold it against what was written down; the files' paths.

    InvalidMeasurement names the first file that is missing, not as it was written, or no part of the run. UsageError
    while the run is in progress.
    """
    journal_state = folder.journal_state()
    if journal_state.state == "running" and folder.is_in_progress:
        raise UsageError(f"run {folder.id} is still in progress", hint="wait until it has ended")
    if (
        journal_state.state != "running" or not folder.is_ours
    ):  # or else it was killed here, and the manifest is made now
        regular(folder.path / "manifest.json")
    manifest = folder.manifest()
    folder.manifest_bytes()
    journal_state = folder.journal_state()
    begun = tuple(journal_state.begin.get("files", {}))
    for name in begun:
        if name not in _BEGUN:
            raise _not_part(folder.path / name, "no run begins with such a file")
    for name in dict.fromkeys(("plan.json", *begun)):
        folder.require_as_written(name, journal_state.begin)
    for samples in sorted(journal_state.samples - manifest.files.keys()):
        raise damaged(samples_path(folder.path, samples), "no SHA-256 of it was ever written down")
    for samples in manifest.files:
        folder.verify(samples)
    superseded = sorted(journal_state.files.keys() - manifest.files.keys())
    kept = [f"superseded/{samples}" for samples in superseded]
    for samples, moved in zip(superseded, kept, strict=True):
        samples_path(folder.path, samples)
        if folder.digest(moved, samples) != journal_state.files[samples]:
            raise damaged(folder.path / moved, ALTERED)
    printed = turns.verify(folder.path, journal_state.every_turn, manifest.plan)
    _require_nothing_else(folder.path, {*begun, *manifest.files, *kept, *printed})
    return ("journal.jsonl", "manifest.json", *begun, *manifest.files, *kept, *printed)


def _require_nothing_else(folder: Path, known: Set[str]) -> None:
    """InvalidMeasurement names a file that lies where measurements lie and that the journal does not mention."""
    found = [folder / "experiment.yaml"]
    for name in ("samples", "baselines", "superseded", turns.FOLDER):
        if os.path.lexists(folder / name):
            found += inside(folder, name).rglob("*")
    for path in sorted(found):
        is_file = os.path.lexists(path) and (path.is_symlink() or not path.is_dir())
        if is_file and path.relative_to(folder).as_posix() not in known:
            raise _not_part(path, "the journal does not mention it")


def _not_part(path: Path, why: str) -> InvalidMeasurement:
    return InvalidMeasurement(
        f"{path}: not part of this run: {why}",
        hint="orch never leaves this there: move it away, or ask whoever sent the folder",
    )
