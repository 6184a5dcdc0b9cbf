"""The one object that writes to the terminal: results to stdout, progress and errors to stderr."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TextIO

from orchestrator.errors import OrchError

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

# Told from colours in foreign text by a word that nobody else knows; it becomes a colour where a line goes out.
_SEAL = os.urandom(8).hex()
_OWN_STYLE = re.compile(rf"\x1b\[(0|{'|'.join(_STYLES.values())});{_SEAL}m")


def plain(text: str) -> str:
    """One line of text with every character shown as its escape, as in Python's source, that has no shape of its own.

    Those are what a terminal acts on (C0, DEL, C1; newline and tab too), what reorders text or joins it (bidirectional
    marks and overrides), what has no width, lone surrogates, and spaces that are not the ordinary one.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _guarded(text: str) -> str:
    """One line before it goes out: our own colours stay, whatever else has no shape is shown."""
    parts = _OWN_STYLE.split(text)  # text, style, text, style, ...
    return "".join(f"\x1b[{part}m" if place % 2 else plain(part) for place, part in enumerate(parts))


@dataclass
class Console:
    """Writes results, progress and errors; knows whether there is a terminal and whether colour is wanted.

    Nothing else in orch writes to a terminal. A call is a line, whatever its text quotes from files and other programs: what
    would end the line, or what a terminal acts on, is shown as its escape; several lines are several calls.

    With `as_json`, exactly one JSON document goes to stdout (`emit`), and text results are left out: an error after it is on
    stderr alone.
    """

    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)
    as_json: bool = False
    has_answered: bool = False

    @property
    def is_live(self) -> bool:
        """Whether a person watches stderr, so that a line may be drawn over."""
        return self.err.isatty() and os.environ.get("TERM", "") != "dumb"

    def style(self, text: str, style: str, stream: TextIO | None = None) -> str:
        """Text in a style, or plain when NO_COLOR is set (no-color.org) or the stream is no terminal."""
        stream = stream or self.out
        if os.environ.get("NO_COLOR") or not stream.isatty():
            return plain(text)
        return f"\x1b[{_STYLES[style]};{_SEAL}m{plain(text)}\x1b[0;{_SEAL}m"

    def result(self, text: str = "") -> None:
        """A line of the answer; silent under --json."""
        if not self.as_json:
            print(_guarded(text), file=self.out)

    def lines(self, texts: Iterable[str]) -> None:
        """Lines of the answer."""
        for text in texts:
            self.result(text)

    def document(self, document: Any) -> None:
        """A JSON document, in ASCII, whether or not --json was asked for."""
        print(json.dumps(document, indent=2).replace("\x7f", "\\u007f"), file=self.out)

    def emit(self, document: Any) -> None:
        """The answer as one JSON document; silent without --json."""
        if self.as_json:
            self.document(document)
            self.has_answered = True

    def progress(self, text: str) -> None:
        """A line that says what is happening; it stays on the screen."""
        with suppress(OSError):  # a terminal that is gone must not break a run, nor its teardown
            self._clear()
            print(_guarded(text), file=self.err, flush=True)

    def live(self, text: str) -> None:
        """A line that the next one replaces; nothing where there is no terminal."""
        if self.is_live:
            with suppress(OSError):  # the terminal may be gone by now
                width = os.get_terminal_size(self.err.fileno()).columns or 80  # a terminal may not know its width
                self._clear()
                self.err.write(_guarded(text)[: width - 1])
                self.err.flush()

    def warning(self, text: str) -> None:
        """Something the user should know that does not stop the work."""
        self.progress(f"{self.style('warning:', 'yellow', self.err)} {text}")

    def error(self, error: OrchError) -> None:
        """What went wrong and what to do next; as JSON on stdout, too, where that is wanted and has no document yet."""
        first, *more = error.lines
        self.progress(f"{self.style('error:', 'red', self.err)} {first}")
        for line in more:
            self.progress(line)
        if error.hint:
            self.progress(f"{self.style('hint:', 'cyan', self.err)} {error.hint}")
        fault = {"message": error.message, "hint": error.hint, "exit_code": error.exit_code}
        if not self.has_answered:
            self.emit({**error.details, "error": fault})

    def _clear(self) -> None:
        if self.is_live:
            self.err.write("\r\x1b[2K")


console = Console()
