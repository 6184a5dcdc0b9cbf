"""Verifying what a reader needs of each reply, and counting what the reply holds besides (the knob `fields`)."""

from __future__ import annotations

import json
from typing import Any

from services.python.operations.base import Operation, Reply, Request


class Narrowed:
    """Verifies as `Operation.verify_shown`, and notes of every right reply the bytes that its reader does not need.

    They are those of the content as compact JSON in UTF-8, whatever it was encoded as: the same for every protocol.
    """

    def __init__(self, operation: Operation) -> None:
        """ValueError for an operation of whose replies everything is needed."""
        if operation.shown is None or operation.verify_shown is None:
            raise ValueError(f"every field of a reply of {operation.name} is needed")
        self._shown, self._verify = operation.shown, operation.verify_shown
        self._beyond: list[int] = []  # appended to by several threads at once

    def __call__(self, request: Request, reply: Reply) -> str | None:
        reason = self._verify(request, reply)
        if reason is None:
            self._beyond.append(_size(reply) - _size(self._shown(reply)))
        return reason

    @property
    def over_fetched_bytes(self) -> float:
        return sum(self._beyond) / len(self._beyond) if self._beyond else 0.0


def _size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())
