"""What can go wrong between this machine and the Compute API."""

from __future__ import annotations


class GcpError(Exception):
    """Shown as `error: message` and `hint: ...`; the program then ends with `exit_code`."""

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = 4) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code


class NotThere(GcpError):
    """The API knows no such thing, or does not show it to this account."""


class Unreachable(GcpError):
    """There was no whole answer: what was asked for may or may not have been done."""
