"""What stands in a page beside its charts, and where a page is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orchestrator.report import default_path, render
from tests.support.findings import measured
from tests.support.pages import Document
from tests.support.summaries import a_run

RUN = a_run(stacks=1)


def test_the_reports_name_says_experiment_date_and_run():
    assert str(default_path(RUN, Path("reports"))) == "reports/six-protocols-2026-11-21-20261121-025500-4f3a.html"
    assert str(default_path(measured(RUN, name="../../etc/passwd"), Path("reports"))).startswith("reports/etc-passwd-")


def test_a_check_names_its_trial_counted_from_one():
    run = a_run(stacks=2)
    check = replace(run.checks[0], evidence={"declared": 1, "block": 3, "trial": 19, "trials": [0, 19]})
    text = Document(render(replace(run, checks=(check,)))).text
    assert "trial 20" in text
    assert "trials 1, 20" in text
