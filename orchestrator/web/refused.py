"""A request that gets no answer."""

from __future__ import annotations


class Refused(Exception):
    """The status of HTTP, why, and what to do; `problems` turns it into a page or a document.

    `again_s`: in so many seconds the same request may be answered; None where that is not known.
    """

    def __init__(self, status: int, message: str, *, hint: str = "", again_s: int | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.hint, self.again_s = status, message, hint, again_s
