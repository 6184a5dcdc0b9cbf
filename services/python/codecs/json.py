"""JSON as the standard library writes and reads it, compact and in UTF-8."""

from __future__ import annotations

import json
from typing import Any

from services.python.codecs.base import expect_mapping

JSON = "application/json"

json_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
"""Compact JSON; ValueError for what JSON has no word for (NaN)."""


def json_bytes(value: Any) -> bytes:
    """Compact JSON in UTF-8, as the responders write it too."""
    return json_text(value).encode()


def json_object(body: bytes) -> dict[str, Any]:
    """A JSON object; ValueError for anything else."""
    return expect_mapping(json.loads(body))
