"""A request that gets no answer."""

from __future__ import annotations


class Refused(Exception):
    """The status of HTTP, why, and what to do; `problems` turns it into a page or a document."""

    def __init__(self, status: int, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.hint = status, message, hint
