"""One operation of a mix, as a plan has it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Mixed:
    """Of all requests it has `weight` in the sum of all weights. The rest is as of a plan's `Operation`."""

    weight: int
    name: str
    label: str
    payload: dict[str, Any] = field(default_factory=lambda: {"kind": "none"})
    request_bytes: int = 0
    reply_bytes: int = 0
