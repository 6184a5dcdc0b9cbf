"""Files that a line names (payloads, schemas): read whole, and checked against the digest that stands beside the path."""

from __future__ import annotations

import hashlib
from pathlib import Path

from services.python.contract.lines import Payload, Schema
from services.python.operations.base import PayloadError


def read_checked(operation: str, payload: Payload) -> bytes:
    """The payload's file; PayloadError when it is missing, or is not the one that was planned."""
    if payload.path is None:
        raise PayloadError(f"{operation}: a payload of kind {payload.kind} needs a path")
    return _read(operation, payload.path, payload.sha256)


def read_schema(schema: Schema | None) -> bytes | None:
    """The schema's file, None without one; PayloadError when it is missing, or is not the one that was made."""
    return None if schema is None else _read("schema", schema.path, schema.sha256)


def _read(what: str, path: str, sha256: str | None) -> bytes:
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise PayloadError(f"{what}: cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    digest = hashlib.sha256(content).hexdigest()
    if sha256 is not None and digest != sha256:
        raise PayloadError(f"{what}: {path} has SHA-256 {digest[:12]}..., the plan says {sha256[:12]}...: plan again")
    return content
