"""Where a report is written, and under which name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orchestrator.report import default_path
from tests.support.summaries import a_run

RUN = a_run(stacks=1)


def test_the_reports_name_says_experiment_date_and_run():
    assert str(default_path(RUN, Path("reports"))) == "reports/six-protocols-2026-11-21-20261121-025500-4f3a.html"
    assert str(default_path(replace(RUN, name="../../etc/passwd"), Path("reports"))).startswith("reports/etc-passwd-")
