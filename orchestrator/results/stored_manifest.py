"""manifest.json: derived from plan and journal, and stored with its own digest (`seal`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import UsageError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.results import derive
from orchestrator.results.documents import Damaged, sealed, unsealed, write_json
from orchestrator.results.journal import Event, Journal
from orchestrator.results.manifest import SCHEMA_VERSION, Manifest
from orchestrator.shapes import decode
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
        raise Damaged(journal.path, f"cannot be read: {error}") from error
    if not journal_state.begin:
        raise Damaged(journal.path, "damaged: it does not say how the run began")
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
        raise Damaged(path, str(error)) from error
    return Stored(manifest=manifest_from_dict(plain, path), content=content)


def content_of(folder: Path) -> bytes | None:
    """Return the bytes of manifest.json; None where there is none."""
    try:
        return (folder / NAME).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Damaged(folder / NAME, f"cannot be read: {error.strerror}") from error


def document_in(content: bytes, path: Path) -> Any:
    """Return these bytes as JSON, of whatever version; InvalidMeasurement where they are none."""
    try:
        return parse_own_json(content)
    except ValueError as error:
        raise Damaged(path, f"not as it was written: {error}") from error


def manifest_to_dict(manifest: Manifest) -> dict[str, Any]:
    """Plain data, ready for JSON."""
    document = asdict(manifest)
    if not manifest.programs:
        del document["programs"]  # which runs of earlier versions did not have
    if manifest.referee is None:
        del document["referee"], document["turns"]  # nor most of today's
    if not manifest.decisions:
        del document["decisions"]
    return document


def require_readable(raw: Any, path: Path) -> None:
    """UsageError names `path` when a JSON document is no manifest, or one of a newer version."""
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if not isinstance(version, int):
        raise UsageError(f"{path}: not a manifest: it has no schema_version", hint=_REBUILD)
    if version > SCHEMA_VERSION:
        raise UsageError(
            f"{path}: written by a newer orch (manifest version {version}; this one reads up to {SCHEMA_VERSION})",
            hint="install that orch to read it; the Parquet files under samples/ can be read by anything meanwhile",
        )


def manifest_from_dict(raw: Any, path: Path) -> Manifest:
    """Return the manifest in a JSON document; UsageError names `path` when it is of another version or not a manifest."""
    require_readable(raw, path)
    try:
        manifest: Manifest = decode(Manifest, raw)
    except ValueError as error:
        raise UsageError(f"{path}: damaged: {error}", hint=_REBUILD) from error
    return manifest


_REBUILD = "bring it back from a copy; the Parquet files under samples/ can still be read with pandas.read_parquet"
