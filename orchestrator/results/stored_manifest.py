"""manifest.json as it is stored, with its own digest (`seal`)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from orchestrator.results.documents import Damaged, sealed, unsealed, write_json
from orchestrator.results.manifest import Manifest
from orchestrator.results.names import MANIFEST
from orchestrator.shapes import decode
from orchestrator.strict_json import parse_own_json


@dataclass(frozen=True, kw_only=True)
class Stored:
    """manifest.json as it lies in the folder: what it says, and its bytes."""

    manifest: Manifest
    content: bytes


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
