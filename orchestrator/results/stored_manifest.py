"""manifest.json: derived from plan and journal, and stored with its own digest (`seal`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.experiment.plan.plan import Plan
from orchestrator.results import derive
from orchestrator.results.documents import (
    manifest_from_dict,
    manifest_to_dict,
    require_readable,
    sealed,
    unsealed,
    write_json,
)
from orchestrator.results.journal import Event, Journal
from orchestrator.results.manifest import Manifest
from orchestrator.results.paths import damaged
from orchestrator.strict_json import parse_own_json

NAME = "manifest.json"


@dataclass(frozen=True, kw_only=True)
class Stored:
    """manifest.json as it lies in the folder: what it says, and its bytes."""

    manifest: Manifest
    content: bytes


def derived(journal: Journal, plan: Callable[[], Plan], *, state: derive.State | None = None) -> Manifest:
    """Return the manifest that plan and journal give.

    `state` counts only of a run that was cut before it could say how it ended. InvalidMeasurement names what is damaged.
    """
    events: list[Event] = list(journal.chain())
    try:
        journal_state = derive.read(event.content for event in events)
    except ValueError as error:
        raise damaged(journal.path, f"cannot be read: {error}") from error
    if not journal_state.begin:
        raise damaged(journal.path, "damaged: it does not say how the run began")
    if journal_state.state != "running" or state == "complete":
        state = None
    return derive.manifest(journal_state, plan().to_dict(), state=state, journal=events[-1].chain)


def write(folder: Path, manifest: Manifest) -> None:
    """Replace manifest.json, whole or not at all. MissingError when the disk is full."""
    write_json(folder / NAME, sealed(manifest_to_dict(manifest)))


def stored(folder: Path) -> Stored | None:
    """Return manifest.json; None where there is none.

    InvalidMeasurement when it is not as it was written; UsageError when it is of a newer schema version.
    """
    path = folder / NAME
    content = content_of(folder)
    if content is None:
        return None
    document = document_in(content, path)
    require_readable(document, path)
    try:
        plain, _ = unsealed(document)
    except ValueError as error:
        raise damaged(path, str(error)) from error
    return Stored(manifest=manifest_from_dict(plain, path), content=content)


def content_of(folder: Path) -> bytes | None:
    """Return the bytes of manifest.json; None where there is none."""
    try:
        return (folder / NAME).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise damaged(folder / NAME, f"cannot be read: {error.strerror}") from error


def document_in(content: bytes, path: Path) -> Any:
    """Return these bytes as JSON, of whatever version; InvalidMeasurement where they are none."""
    try:
        return parse_own_json(content)
    except ValueError as error:
        raise damaged(path, f"not as it was written: {error}") from error
