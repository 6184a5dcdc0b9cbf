"""Payloads that are files: read whole, and checked against the digest that the plan recorded."""

from __future__ import annotations

import hashlib
from pathlib import Path

from services.python.contract.lines import Payload
from services.python.operations.base import PayloadError


def read_checked(operation: str, payload: Payload) -> bytes:
    """The payload's file; PayloadError when it is missing, or is not the one that was planned."""
    if payload.path is None:
        raise PayloadError(f"{operation}: a payload of kind {payload.kind} needs a path")
    try:
        content = Path(payload.path).read_bytes()
    except OSError as error:
        raise PayloadError(f"{operation}: cannot read {payload.path}: {error.strerror}") from error
    digest = hashlib.sha256(content).hexdigest()
    if payload.sha256 is not None and digest != payload.sha256:
        raise PayloadError(
            f"{operation}: {payload.path} has SHA-256 {digest[:12]}..., the plan says {payload.sha256[:12]}...: plan again"
        )
    return content
