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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"port": 1, "port": 2}', "the key 'port' occurs twice"),
        ('{"a": [{"b": 1, "b": 1}]}', "the key 'b' occurs twice"),
        ("[NaN]", "NaN is not a number of JSON"),
        ("[1e999]", "not JSON compliant"),
        (str(1 << 65), "more than 64 bits"),
    ],
)
def test_what_orch_never_writes_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_json(text)


def test_many_keys_of_which_the_last_stands_there_twice_are_refused_at_once() -> None:
    keys = ",".join(f'"k{number}":1' for number in range(200_000))
    with pytest.raises(ValueError, match="'k199999' occurs twice"):
        parse_json(f'{{{keys},"k199999":1}}')


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
