"""The Markdown of a comment, as a file that is read as a diff; `REWRITE=1` writes it again."""

from __future__ import annotations

import html
import os
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import MissingError, Regression, Undecided
from orchestrator.gate import words
from orchestrator.gate.verdict import GateResult
from orchestrator.report.markdown import escaped
from tests.support.gates import a_call, a_gate, a_row

GOLDEN = Path(__file__).with_name("comment.md")
SLOWER = a_gate(
    a_call(a_row("slower"), a_row("undecided", "p99"), noise=(0.99, 1.02), errors=(0.0, 0.01)),
    a_call(a_row("not slower")),
)


def test_a_comment_begins_with_its_marker_and_shows_the_worst_first() -> None:
    text = words.markdown(SLOWER, "orch gate ci/orch.yaml --base main")
    if os.environ.get("REWRITE"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")
    assert text.splitlines()[0] == words.marker("shop")


@pytest.mark.parametrize(
    ("gate", "error"),
    [
        (SLOWER, Regression),
        (a_gate(a_call(a_row("undecided"))), Undecided),
        (a_gate(a_call(blocks=0)), Undecided),
        (a_gate(a_call(a_row("not slower"))), type(None)),
    ],
)
def test_the_exit_code_and_each_row_of_the_files_say_the_verdict(gate: GateResult, error: type) -> None:
    judgement = words.judgement(gate)
    assert type(judgement.error) is error
    assert len(judgement.outcomes) == len(words.comparison(gate).rows) == len(gate.decisive)
    assert all(word not in judgement.sentence for word in ("None", "nan"))


def test_a_call_with_a_limit_of_its_own_is_judged_by_it() -> None:
    gate = a_gate(a_call(a_row("not slower", limit=0.2)), a_call(a_row("undecided", limit=0.1)))
    judgement = words.judgement(gate)
    assert judgement.limits == (0.1, 0.2)
    assert "at a limit of 10 %" in judgement.sentence
    assert "at a limit of 10 % and 20 %." in words.markdown(gate, "orch gate")


def test_text_of_others_breaks_no_table_and_calls_nobody() -> None:
    hostile = "a|b `c` <img src=x> @everyone #1 &amp; ![x](y)\x1b[31m\nnew"
    call = a_call(replace(a_row("slower"), call=hostile))
    gate = replace(a_gate(call), head=replace(SLOWER.head, label="[run](http://x)", changed=(hostile,)))
    lines = words.markdown(gate, "orch gate").splitlines()
    (only,) = [line for line in lines if line.startswith("| slower")]
    assert only.count(" | ") == 6
    assert "<img" not in only
    assert "@<!-- -->everyone #<!-- -->1" in only
    assert "`" not in "".join(lines[:-1])
    assert all(line.isprintable() for line in lines)


def test_escaped_text_is_what_it_was_once_it_is_shown() -> None:
    text = "a|b & <c> *d* [e](f) `g` ~h~ $i$"
    assert html.unescape(escaped(text)) == text


def test_a_gate_that_could_not_measure_replaces_the_comment_of_an_earlier_one() -> None:
    text = words.markdown_without_verdict("shop", MissingError("head does not start"))
    assert text.splitlines() == [words.marker("shop"), "**No verdict:** head does not start."]
