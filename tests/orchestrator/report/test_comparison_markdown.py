"""Markdown of a comparison: the sentence first, a table that stays one, and nothing that text of others could do in it."""

from __future__ import annotations

import pytest

from orchestrator.report.comparison import markdown
from orchestrator.report.markdown import escaped
from orchestrator.wording.gate import judge
from tests.support.compared import comparison, row

COMMAND = "orch gate ci/orch.yaml --base main"


def written(*rows, limit=0.05, **more):
    compared = comparison(*rows, **more)
    return markdown(compared, judge(compared, limit), COMMAND).splitlines()


def table(lines):
    return [line for line in lines if line.startswith("| ")][2:]


@pytest.mark.parametrize(
    ("interval", "begins"),
    [
        ((0.98, 1.02), "**Not slower:** 1 of 1 comparisons is not slower by more than 5 %."),
        ((1.2, 1.4), "**Slower:** 1 of 1 comparisons is significantly slower by more than 5 %: "),
        ((0.9, 1.3), "**Cannot tell:** 1 of 1 comparisons is undetermined, at a limit of 5 %: "),
    ],
)
def test_the_sentence_comes_first(interval, begins):
    assert written(row(*interval))[0].startswith(begins)


def test_rows_that_are_slower_come_first_then_those_that_are_open():
    lines = written(row(0.98, 1.02, "same"), row(None, None, "few"), row(1.2, 1.4, "worse"))
    assert [line.split(" | ")[:2] for line in table(lines)] == [
        ["| **slower**", "worse"],
        ["| cannot tell", "few"],
        ["| not slower", "same"],
    ]
    assert "| 1.30 | 1.20 to 1.40 |" in table(lines)[0]


def test_what_could_not_be_told_and_how_to_repeat_it_follow():
    lines = written(row(0.9, 1.3, "open"))
    (place,) = (number for number, line in enumerate(lines) if line == "#### Undetermined")
    assert lines[place + 2].startswith("- open, add, local: its 95 % interval, 0.90 to 1.30, reaches to both sides")
    assert lines[-3:] == ["````", COMMAND, "````"]


def test_text_of_others_breaks_no_table_and_calls_nobody():
    hostile = "a|b `c` <img src=x> @everyone #1 &amp; ![x](y)\x1b[31m\nnew"
    lines = written(row(1.2, 1.4, hostile), of="[run](http://x)")
    (only,) = table(lines)
    assert only.count(" | ") == 6
    assert "<img" not in only
    assert "@<!-- -->everyone #<!-- -->1" in only
    assert "`" not in "".join(lines[:-3])
    assert all(line.isprintable() for line in lines)


def test_escaped_text_is_what_it_was_once_it_is_shown():
    import html

    text = "a|b & <c> *d* [e](f) `g` ~h~ $i$"
    assert html.unescape(escaped(text)) == text


def test_throughput_is_shown_as_a_rate_and_its_ratio_named():
    lines = written(row(1.2, 1.4, statistic="throughput", value=900.0, reference_value=1200.0), statistic="throughput")
    assert "1,200/s | 900/s" in table(lines)[0]
    assert any("ratios of times per request, above 1 is slower" in line for line in lines)
