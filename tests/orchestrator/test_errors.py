"""Exit codes, JSON from elsewhere, and text that shows nothing."""

from __future__ import annotations

import pytest

from orchestrator import errors
from orchestrator.cli.console import plain
from orchestrator.experiment.read.tree import unfit
from orchestrator.report.page import shown
from orchestrator.strict_json import parse_json


def classes():
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.OrchError)]


def test_every_error_has_a_code_of_its_own():
    codes = [kind.exit_code for kind in classes()]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("text", ["[NaN]", "[-Infinity]", '["\\ud800"]', "[" * 1_000, ""])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="at line 1"):
        parse_json(text)


UNSEEN = [0xAD, 0x200B, 0x2060, 0xFEFF]


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
