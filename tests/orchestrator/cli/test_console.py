"""The object that writes to the terminal: what it lets through, whoever wrote the text."""

from __future__ import annotations

import io

import pytest

from orchestrator.cli.console import Console, plain
from orchestrator.errors import UsageError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    return Console(out=Terminal(), err=Terminal())


@pytest.mark.parametrize("code", [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), 0x202E, 0x2066, 0x2028, 0xD800])
def test_what_a_terminal_would_act_on_is_shown(code: int) -> None:
    shown = plain(f"a{chr(code)}b")
    assert shown.isprintable()
    assert f"{code:02x}" in shown


def test_ordinary_text_is_left_as_it_is() -> None:
    assert plain("Grüße, 東京 → 1.5 ms\n\tnext") == "Grüße, 東京 → 1.5 ms\n\tnext"


def test_our_own_colours_pass_and_what_they_colour_cannot_end_them(console: Console) -> None:
    console.result(console.style("a\x1b[0mb", "red"))
    assert console.out.getvalue() == "\x1b[31ma\\x1b[0mb\x1b[0m\n"


@pytest.mark.parametrize("write", ["result", "progress", "warning"])
def test_no_line_moves_the_cursor_or_names_the_window(console: Console, write: str) -> None:
    getattr(console, write)("x\x1b[2J\x1b]0;owned\x07\r\x9b31m")
    text = console.out.getvalue() + console.err.getvalue()
    assert r"x\x1b[2J\x1b]0;owned\x07\x0d\x9b31m" in text


def test_errors_and_hints_are_guarded_too(console: Console) -> None:
    console.error(UsageError("no \x1b]52;c;x\x07", hint="try \x1b[5A"))
    assert "\x1b]" not in console.err.getvalue()
    assert "\x1b[5A" not in console.err.getvalue()
