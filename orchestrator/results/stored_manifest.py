"""manifest.json: derived from plan and journal, and stored with its own digest (`seal`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from orchestrator.experiment.plan.plan import Plan
from orchestrator.results import derive
from orchestrator.results.documents import Damaged, sealed, unsealed, write_json
from orchestrator.results.journal import Journal
from orchestrator.results.manifest import Manifest
from orchestrator.results.names import MANIFEST
from orchestrator.shapes import decode
from orchestrator.strict_json import parse_own_json


@dataclass(frozen=True, kw_only=True)
class Stored:
    """manifest.json as it lies in the folder: what it says, and its bytes."""

    manifest: Manifest
    content: bytes


def derived(journal: Journal, plan: Callable[[], Plan], *, state: derive.State | None = None) -> Manifest:
    """Return the manifest that plan and journal give.

    `state` counts only of a run that was cut before it could say how it ended. InvalidMeasurement names what is damaged.
    """
    lines = list(journal.lines())
    try:
        journal_state = derive.read(line.content for line in lines)
    except ValueError as error:
        raise Damaged(journal.path, f"cannot be read: {error}") from error
    if not journal_state.begin:
        raise Damaged(journal.path, "damaged: it does not say how the run began")
    if journal_state.state != "running" or state == "complete":
        state = None
    return derive.manifest(journal_state, plan().to_dict(), state=state, journal=lines[-1].chain)


def write(folder: Path, manifest: Manifest) -> None:
    """Replace manifest.json, whole or not at all. MissingError when the disk is full."""
    write_json(folder / MANIFEST, sealed(asdict(manifest)))


def stored(folder: Path) -> Stored | None:
    """Return manifest.json; None where there is none. InvalidMeasurement when it is not as it was written."""
    path = folder / MANIFEST
    content = content_of(folder)
    if content is None:
        return None
    try:
        plain, _ = unsealed(parse_own_json(content))
        return Stored(manifest=decode(Manifest, plain), content=content)
    except ValueError as error:
        raise Damaged(path, f"not as this orch writes it: {error}") from error


def content_of(folder: Path) -> bytes | None:
    """Return the bytes of manifest.json; None where there is none."""
    path = folder / MANIFEST
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Damaged(path, f"cannot be read: {error.strerror}") from error
