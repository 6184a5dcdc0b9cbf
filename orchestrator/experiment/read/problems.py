"""What is wrong with an experiment file, and where: collected, then reported together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from orchestrator.errors import UsageError

MOST_PROBLEMS = 200  # that are looked for; more than that is one mistake repeated
_SHOWN = 20  # problems in one message
_SHOWN_CHARACTERS = 80


def shown(text: object) -> str:
    """A value as a message quotes it: its beginning, where it is long."""
    whole = str(text).lower() if isinstance(text, bool) else str(text)
    return whole if len(whole) <= _SHOWN_CHARACTERS else f"{whole[:_SHOWN_CHARACTERS]}..."


def either(names: Sequence[str]) -> str:
    """Return names as a choice: `a, b or c`."""
    return " or ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


@dataclass(frozen=True)
class Source:
    """A text and what to call it in messages: a file's path, or the `--set` it came from."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines()

    def excerpt(self, line: int, column: int) -> str:
        """The line (from 1) with a caret under the column (from 1); empty where the text has no such line."""
        lines = self._lines
        if not 1 <= line <= len(lines):
            return ""
        text = lines[line - 1].replace("\t", " ")
        start = max(0, column - 80)
        gutter = f"{line:>5} | "
        caret = " " * (column - 1 - start)
        return f"{gutter}{text[start : start + 120]}\n{' ' * (len(gutter) - 2)}| {caret}^"


@dataclass(frozen=True)
class Mark:
    """A place in a source; line and column count from 1."""

    source: Source
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong. `message` is a sentence or two: what, why, what to write instead."""

    mark: Mark
    message: str

    @property
    def lines(self) -> tuple[str, ...]:
        """Place and message, and below them the line of the file with a caret."""
        excerpt = self.mark.source.excerpt(self.mark.line, self.mark.column)
        return (f"{self.mark}: {self.message}", *(excerpt.split("\n") if excerpt else ()))

    def __str__(self) -> str:
        return "\n".join(self.lines)


class ExperimentError(UsageError):
    """An experiment that cannot be run as written; `problems` in the order of the file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        unique = sorted(set(problems), key=lambda p: (p.mark.source.name, p.mark.line, p.mark.column, p.message))
        self.problems = tuple(unique)
        super().__init__("\n".join(self.lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """The problems, each with its excerpt, line by line."""
        more = len(self.problems) - _SHOWN
        texts = [line for problem in self.problems[:_SHOWN] for line in problem.lines]
        return (*texts, *([f"... and {more} more"] if more > 0 else ()))
