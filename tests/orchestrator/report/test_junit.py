"""JUnit XML of a comparison: a test case for each row, counted, escaped, and readable by any parser."""

from __future__ import annotations

import pytest

from orchestrator.errors import Undecided
from orchestrator.report.comparison import junit
from orchestrator.wording.gate import Judgement, judge
from tests.support.compared import comparison, row, xml

HOSTILE = "a\x1b[31m<b>&\"'\x00\x0b\ud800\ufffe\u202e]]>\n--> c"


def written(*rows, limit=0.05, fails=True, **more):
    compared = comparison(*rows, **more)
    return xml(junit(compared, judge(compared, limit), fails_undetermined=fails))


def cases(root):
    return {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}


def test_each_row_is_a_test_case_and_says_what_the_exit_code_says():
    rows = row(0.98, 1.02, "same"), row(1.2, 1.4, "worse"), row(0.9, 1.3, "open"), row(None, None, "few")
    root = written(*rows)
    assert cases(root) == {"same": ["system-out"], "worse": ["failure"], "open": ["error"], "few": ["error"]}
    for element in (root, root[0]):
        counts = [element.get(name) for name in ("tests", "failures", "errors", "skipped")]
        assert counts == ["4", "1", "2", "0"]
    worse = next(case for case in root.iter("testcase") if case.get("name") == "worse")
    assert worse.get("classname") == "add, local"
    message = worse[0].get("message")
    assert message.startswith("significantly slower by more than 5 %: ratio 1.30, 95 % interval 1.20 to 1.40")


def test_what_cannot_be_told_is_skipped_with_its_reason_where_it_may_pass():
    (case,) = written(row(1.2, 1.4, doubts=("in new a check failed: floor",)), fails=False).iter("testcase")
    assert [child.tag for child in case] == ["skipped"]
    assert "in new a check failed: floor" in case[0].get("message")


def test_text_of_others_is_escaped_and_holds_nothing_unseen():
    compared = comparison(row(1.2, 1.4, HOSTILE, group=HOSTILE, notes=(HOSTILE,)), of=HOSTILE)
    text = junit(compared, judge(compared, 0.05), fails_undetermined=True)
    assert all(char.isprintable() or char == "\n" for char in text)
    (case,) = xml(text).iter("testcase")
    assert case.get("name") == "a\\u001b[31m<b>&\"'\\u0000\\u000b\\ud800\\ufffe\\u202e]]> --> c"


@pytest.mark.parametrize(("fails", "tag"), [(True, "error"), (False, "skipped")])
def test_a_comparison_of_nothing_is_one_case_that_says_why(fails, tag):
    none = "no cell in common"
    nothing = Judgement(limit=0.05, outcomes=(), sentence=none, error=Undecided(none), limits=())
    (case,) = xml(junit(comparison(), nothing, fails_undetermined=fails)).iter("testcase")
    assert [(child.tag, child.get("message")) for child in case] == [(tag, "no cell in common")]
