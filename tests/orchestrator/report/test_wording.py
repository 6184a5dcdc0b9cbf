"""What stands beside tables and charts says what they show, and no more."""

from dataclasses import replace

from orchestrator.report import render
from tests.support.pages import Document
from tests.support.summaries import a_run


def test_a_check_names_its_trial_counted_from_one():
    run = a_run(stacks=2)
    check = replace(run.checks[0], evidence={"block": 3, "trial": 19, "trials": [0, 19]})
    text = Document(render(replace(run, checks=(check,)))).text
    assert "trial 20" in text
    assert "trials 1, 20" in text
