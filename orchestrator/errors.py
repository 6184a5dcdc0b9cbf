"""Every error that orch raises on purpose: one class tree, each class with one exit code.

`message` says what is wrong and where, `hint` what to do next, `details` what a program should get with it under
`--json` (the run that went wrong, say). `cli.main` turns an error into text (or JSON) and its
exit code; nothing else in the program ends the process.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, ClassVar

# What a run that was cut keeps, for messages.
KEPT = "finished blocks are kept; the block in progress is repeated"


class OrchError(Exception):
    """A fault of our own."""

    exit_code: ClassVar[int] = 70

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        details: dict[str, Any] | None = None,
        shown: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details or {}
        self._shown = shown

    @property
    def lines(self) -> tuple[str, ...]:
        """The message as a terminal shows it: one line, unless the error was made of several."""
        return self._shown or (self.message,)


class Regression(OrchError):
    """A comparison found what it looks for."""

    exit_code = 1


class UsageError(OrchError):
    """The file or the call is wrong; nothing was started."""

    exit_code = 2


class MissingError(OrchError):
    """The machine lacks something that the call needs."""

    exit_code = 3


class ProvisionError(OrchError):
    """Hosts could not be made, reached, or deployed to."""

    exit_code = 4


class InvalidMeasurement(OrchError):
    """A check failed: the numbers are stored, and those of the cells that it names are invalid."""

    exit_code = 5


class TeardownIncomplete(OrchError):
    """Something that we made is still there."""

    exit_code = 6


class TrialsFailed(OrchError):
    """The run ended, but some trials gave no samples."""

    exit_code = 7


class Undecided(OrchError):
    """A comparison can neither find nor rule out what it looks for."""

    exit_code = 8


class BuildFailed(OrchError):
    """The programs of a language cannot be built."""

    exit_code = 9


class Interrupted(OrchError):
    """The user ended it."""

    exit_code = 130


def on_one_line(text: str, most: int) -> str:
    """The end of what a program said, at most so many characters, to be quoted in a message.

    >>> on_one_line("first  second", 6)
    'second'
    """
    return " ".join(text.split())[-most:]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A sentence that names the nearest known words, or all of them when none is near.

    >>> did_you_mean("grcp", ["grpc", "rest"])
    'Did you mean grpc?'
    """
    names = sorted(known)
    near = nearest(word, names, most=2)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"Known: {', '.join(names)}."


def nearest(word: str, known: Iterable[str], *, most: int = 1) -> list[str]:
    """The known words most like this one, the nearest first, whatever their case; those that differ in case alone first.

    >>> nearest("REST", ["rest", "grpc"]), nearest("Gprc", ["rest", "grpc"]), nearest("soap", ["rest", "grpc"])
    (['rest'], ['grpc'], [])
    """
    by_folded: dict[str, list[str]] = {}
    for name in sorted(known):
        by_folded.setdefault(name.casefold(), []).append(name)
    same = by_folded.get(word.casefold(), [])
    near = [word.casefold()] if same else difflib.get_close_matches(word.casefold(), by_folded, n=most, cutoff=0.6)
    return [name for folded in near for name in by_folded[folded]][:most]
