"""JSON as orch and the programs of the process contract write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic_core import from_json


def parse_json(text: bytes | str) -> Any:
    """A JSON document; ValueError for what is none, a lone surrogate, NaN, or what is nested too deeply."""
    return from_json(text, allow_inf_nan=False)


def read_json(path: Path) -> Any:
    """The JSON document in a file; OSError when it cannot be read, ValueError as `parse_json`."""
    return parse_json(path.read_bytes())
