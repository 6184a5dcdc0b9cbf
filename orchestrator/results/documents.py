"""Files that appear whole or not at all, and the manifest as JSON and back."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from orchestrator.errors import MissingError, UsageError
from orchestrator.results.manifest import SCHEMA_VERSION, Manifest


@contextmanager
def whole_file(path: Path, staging: Path | None = None) -> Iterator[Path]:
    """A temporary path to write to, which becomes `path` when the block ends well and is removed when it does not.

    `staging` is a folder of the same file system. MissingError when the disk is full.
    """
    folder = staging or path.parent
    folder.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    with disk_full_is_an_error(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
        os.close(handle)
        partial = Path(name)
        try:
            yield partial
            with partial.open("rb") as written:
                os.fsync(written.fileno())
            partial.chmod(0o644)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def disk_full_is_an_error(path: Path) -> Iterator[None]:
    """Turn "no space left" and "quota exceeded" into a MissingError that says what is kept and how to go on."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise MissingError(
            f"the disk is full: {path} could not be written; every finished trial is kept",
            hint="free some space, then `orch run --resume`",
        ) from error


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document, whole or not at all."""
    with whole_file(path) as partial:
        partial.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def manifest_to_dict(manifest: Manifest) -> dict[str, Any]:
    """Plain data, ready for JSON."""
    return asdict(manifest)


def manifest_from_dict(raw: Any, path: Path) -> Manifest:
    """The manifest in a JSON document; UsageError names `path` when it is of another version or not a manifest."""
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if not isinstance(version, int):
        raise UsageError(f"{path}: not a manifest: it has no schema_version", hint=_REBUILD)
    if version > SCHEMA_VERSION:
        raise UsageError(
            f"{path}: written by a newer orch (manifest version {version}; this one reads up to {SCHEMA_VERSION})",
            hint="install that orch to read it; the Parquet files under samples/ can be read by anything meanwhile",
        )
    try:
        manifest: Manifest = decode(Manifest, raw)
    except (TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{path}: damaged: {error}", hint=_REBUILD) from error
    return manifest


_REBUILD = "remove it: it is derived from journal.jsonl, and written anew by `orch report`"


def decode(kind: Any, raw: Any) -> Any:
    """Plain data as `kind`, a dataclass or a tuple of them; everything else is passed through.

    A key that the dataclass lacks is a TypeError: data of the same schema version has none.
    """
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        unknown = raw.keys() - {f.name for f in fields(kind)}
        if unknown:
            raise TypeError(f"unknown key in {kind.__name__}: {', '.join(sorted(unknown))}")
        return kind(**{key: decode(hints[key], value) for key, value in raw.items()})
    if getattr(kind, "__origin__", None) is tuple:
        return tuple(decode(get_args(kind)[0], item) for item in raw)
    return raw
