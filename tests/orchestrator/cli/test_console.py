"""The object that writes to the terminal: what it lets through, whoever wrote the text."""

from __future__ import annotations

import ast
import io
import json
import os
from pathlib import Path

import pytest

from orchestrator.cli.console import Console, plain
from orchestrator.errors import UsageError
from orchestrator.experiment.read.problems import ExperimentError, Mark, Problem, Source
from tests.support.called import orch
from tests.support.printed import printed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    return Console(out=Terminal(), err=Terminal())


HIDDEN = [0x00, 0x0A, 0x1B, 0x7F, 0x9B, 0xA0, 0xAD, 0x200B, 0x2028, 0x202E, 0x2066, 0xD800, 0xFEFF, 0xE0041]


@pytest.mark.parametrize("code", HIDDEN)
def test_what_has_no_shape_of_its_own_is_shown(code: int) -> None:
    shown = plain(f"a{chr(code)}b")
    assert shown.isprintable()
    assert ast.literal_eval(f'"{shown}"') == f"a{chr(code)}b"


@pytest.mark.parametrize("code", HIDDEN)
def test_json_holds_it_as_an_escape_and_gives_it_back(code: int) -> None:
    console = Console(out=io.StringIO(), as_json=True)
    console.emit({"a": f"x{chr(code)}y"})
    text = printed(console.out)
    assert text.replace("\n", "").isprintable()
    assert json.loads(text) == {"a": f"x{chr(code)}y"}


def test_ordinary_text_is_left_as_it_is() -> None:
    assert plain("Grüße, 東京 → 1.5 ms") == "Grüße, 東京 → 1.5 ms"


FORGED = "x\nok: verified\r\u2028ok: verified"


@pytest.mark.parametrize("write", ["result", "progress", "warning", "live"])
def test_a_text_cannot_make_a_line_of_its_own(console: Console, monkeypatch: pytest.MonkeyPatch, write: str) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((200, 20)))
    monkeypatch.setattr(Terminal, "fileno", lambda _: 2)
    getattr(console, write)(FORGED)
    text = printed(console.out) + printed(console.err).replace("\r\x1b[2K", "")
    assert len(text.splitlines()) == 1
    assert r"x\nok: verified\r\u2028ok: verified" in text


def test_an_error_of_several_lines_has_them_and_what_it_quotes_adds_none(console: Console) -> None:
    source = Source(f"{FORGED}.yaml", "a: 1\n")
    console.error(ExperimentError([Problem(Mark(source, 1, 1), FORGED), Problem(Mark(source, 1, 2), "b")]))
    lines = printed(console.err).splitlines()
    assert len(lines) == 6
    assert not any(line.startswith("ok:") for line in lines)
    console.error(UsageError(FORGED, hint=FORGED))
    assert len(printed(console.err).splitlines()) == 8


@pytest.mark.parametrize("words", [["--no\nok: verified"], ["no\nok: verified"], ["report", "x\nok: verified"]])
def test_the_words_of_a_call_make_no_line_either(words: list[str], tmp_path: Path) -> None:
    done = orch(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "error:" in done.stderr
    assert not any(line.startswith("ok:") for line in (done.stdout + done.stderr).splitlines())


def test_our_own_colours_pass_and_what_they_colour_cannot_end_them(console: Console) -> None:
    console.result(console.style("a\x1b[0mb", "red"))
    assert printed(console.out) == "\x1b[31ma\\x1b[0mb\x1b[0m\n"
