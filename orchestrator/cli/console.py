"""The one object that writes to the terminal: results to stdout, progress and errors to stderr."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TextIO

from orchestrator.errors import OrchError

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

# What a terminal acts on instead of showing: C0 controls but tab and newline, DEL, C1, and marks that reorder text.
_UNSHOWABLE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_CONTROL = re.compile(_UNSHOWABLE)
_OWN_STYLE = rf"\x1b\[(?:0|{'|'.join(_STYLES.values())})m"
_FOREIGN_CONTROL = re.compile(f"({_OWN_STYLE})|{_UNSHOWABLE}")


def plain(text: str) -> str:
    """Text from a file or another program, with every control character shown as its escape, as in Python's source.

    To be used for whatever this program did not write itself, before it is styled.
    """
    return _CONTROL.sub(_shown, text)


def _guarded(text: str) -> str:
    """A whole line before it goes out: our own colours stay, every other control character is shown."""
    return _FOREIGN_CONTROL.sub(lambda found: found.group(1) or _shown(found), text)


def _shown(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


@dataclass
class Console:
    """Writes results, progress and errors; knows whether there is a terminal and whether colour is wanted.

    Every line is guarded: whatever it quotes from files, only our own colours reach the terminal as escape sequences.

    With `as_json`, exactly one JSON document goes to stdout (`emit`), and text results are left out.
    """

    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)
    as_json: bool = False

    @property
    def is_live(self) -> bool:
        """Whether a person watches stderr, so that a line may be drawn over."""
        return self.err.isatty() and os.environ.get("TERM", "") != "dumb"

    def style(self, text: str, style: str, stream: TextIO | None = None) -> str:
        """Text in a style, or plain when NO_COLOR is set (no-color.org) or the stream is no terminal."""
        stream = stream or self.out
        if os.environ.get("NO_COLOR") or not stream.isatty():
            return plain(text)
        return f"\x1b[{_STYLES[style]}m{plain(text)}\x1b[0m"

    def result(self, text: str = "") -> None:
        """A line of the answer; silent under --json."""
        if not self.as_json:
            print(_guarded(text), file=self.out)

    def emit(self, document: Any) -> None:
        """The answer as one JSON document; silent without --json."""
        if self.as_json:
            text = json.dumps(document, indent=2, ensure_ascii=False)
            self.out.write(_CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n")

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
                self.err.write(_guarded(text[: width - 1]))
                self.err.flush()

    def warning(self, text: str) -> None:
        """Something the user should know that does not stop the work."""
        self.progress(f"{self.style('warning:', 'yellow', self.err)} {text}")

    def error(self, error: OrchError) -> None:
        """What went wrong and what to do next; as JSON on stdout too where JSON was asked for."""
        self.progress(f"{self.style('error:', 'red', self.err)} {error.message}")
        if error.hint:
            self.progress(f"{self.style('hint:', 'cyan', self.err)} {error.hint}")
        fault = {"message": error.message, "hint": error.hint, "exit_code": error.exit_code}
        self.emit({**error.details, "error": fault})

    def _clear(self) -> None:
        if self.is_live:
            self.err.write("\r\x1b[2K")


console = Console()
