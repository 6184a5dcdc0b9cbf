"""Files that appear whole or not at all, and the manifest as JSON and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from orchestrator import disk
from orchestrator.errors import UsageError
from orchestrator.results.manifest import SCHEMA_VERSION, Manifest
from orchestrator.shapes import decode
from orchestrator.strict_json import read_own_json


@contextmanager
def whole_file(path: Path, staging: Path | None = None) -> Iterator[Path]:
    """`disk.whole_file` for a file of a run: MissingError when the disk is full."""
    with disk_full_is_an_error(path), disk.whole_file(path, staging=staging) as partial:
        yield partial


@contextmanager
def disk_full_is_an_error(path: Path) -> Iterator[None]:
    """Turn "no space left" and "quota exceeded" into a MissingError that says what is kept and how to continue."""
    try:
        yield
    except OSError as error:
        if not disk.is_full(error):
            raise
        raise disk.full(path) from error


def to_line(document: Any) -> bytes:
    """A document as compact JSON, without a newline."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document, whole or not at all."""
    with whole_file(path) as partial:
        partial.write_bytes(json_bytes(document))


def json_bytes(document: Any) -> bytes:
    """A JSON document as `write_json` writes it; the same document gives the same bytes."""
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with its own SHA-256 as `seal`: for what is read again and that no journal speaks of."""
    return {**document, "seal": _seal(_compact(document))}


def read_sealed(path: Path) -> dict[str, Any]:
    """Return a document that was sealed; OSError when it cannot be read, ValueError when it is not as it was written."""
    return read_sealed_text(path)[0]


def read_sealed_text(path: Path) -> tuple[dict[str, Any], str]:
    """As `read_sealed`, with the same as compact JSON."""
    return unsealed(read_own_json(path))


def unsealed(document: Any) -> tuple[dict[str, Any], str]:
    """Return a sealed document without its seal, and the same as compact JSON; ValueError where they do not match."""
    if not isinstance(document, dict):
        raise ValueError("not as it was written")
    claimed = document.get("seal")
    plain = {key: value for key, value in document.items() if key != "seal"}
    text = _compact(plain)
    if claimed != _seal(text):
        raise ValueError("not as it was written: its digest is another one")
    return plain, text


def _compact(document: dict[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _seal(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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
