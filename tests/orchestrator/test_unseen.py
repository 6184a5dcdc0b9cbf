"""What shows nothing is shown by its code wherever foreign text is, and refused in an experiment."""

from __future__ import annotations

import pytest

from orchestrator.cli.console import plain
from orchestrator.experiment.read.tree import unfit
from orchestrator.report.page import shown

UNSEEN = [0xAD, 0x34F, 0x115F, 0x17B4, 0x17B5, 0x180B, 0x180E, 0x200B, 0x2060, 0x2800, 0x3164, 0xFE0F, 0xFFA0, 0xE0100]


@pytest.mark.parametrize("code", UNSEEN)
def test_what_shows_nothing_is_shown_by_its_code(code: int) -> None:
    text = f"a{chr(code)}b"
    assert chr(code) not in plain(text)
    assert f"{code:x}" in plain(text)
    assert chr(code) not in shown(text)
    assert f"{code:x}" in shown(text)
    assert unfit(text) == f"this text holds the character U+{code:04X}, which is invisible."


@pytest.mark.parametrize("text", ["grün", "数え\u3000る", "한글", "5\u202fms", "née"])
def test_prose_is_let_through(text: str) -> None:
    assert unfit(text) is None
    assert shown(text) == text
