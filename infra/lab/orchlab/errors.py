"""The one error of the lab: what is wrong, where, and what to do next."""

from __future__ import annotations


class LabError(Exception):
    """Shown as `error: message` and `hint: ...`; the program then ends with `exit_code`."""

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = 4) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
