"""Files that a line names (payloads, schemas): read whole, and checked against the digest that stands beside the path."""

from __future__ import annotations

import hashlib
import os
import stat

from services.python.contract.limits import MAX_PAYLOAD_BYTES
from services.python.contract.lines import Authority, Payload, Schema
from services.python.operations.base import PayloadError


def read_checked(operation: str, payload: Payload) -> bytes:
    """The payload's file; PayloadError when it is missing, no file, or not the one that was planned."""
    if payload.path is None:
        raise PayloadError(f"{operation}: a payload of kind {payload.kind} needs a path")
    return _read(operation, payload.path, payload.sha256)


def read_schema(schema: Schema | None) -> bytes | None:
    """The schema's file, None without one; PayloadError when it is missing, no file, or not the one that was made."""
    return None if schema is None else _read("schema", schema.path, schema.sha256)


def read_authority(authority: Authority) -> bytes:
    """The certificate of an authority; PayloadError as `read_schema`."""
    return _read("tls", authority.path, authority.sha256)


def _read(what: str, path: str, sha256: str | None) -> bytes:
    try:
        content = _content(path)
    except (OSError, ValueError) as error:
        raise PayloadError(f"{what}: cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    digest = hashlib.sha256(content).hexdigest()
    if sha256 is not None and digest != sha256:
        raise PayloadError(f"{what}: {path} has SHA-256 {digest[:12]}..., the plan says {sha256[:12]}...: plan again")
    return content


def _content(path: str) -> bytes:
    """All of a regular file, without waiting for a pipe or reading a device; ValueError for these, and for a larger one."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("not a regular file")
        content = file.read(MAX_PAYLOAD_BYTES + 1)
    if len(content) > MAX_PAYLOAD_BYTES:
        raise ValueError(f"larger than {MAX_PAYLOAD_BYTES:,} bytes")
    return content
