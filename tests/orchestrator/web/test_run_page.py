"""The page of a run, its report and its exports."""

from __future__ import annotations

import re

import pytest

from orchestrator.results.folder import RunFolder
from orchestrator.wording.answer import answer as written
from orchestrator.wording.tables import result_tables
from orchestrator.workspace import Workspace
from tests.support.folders import begun, killed
from tests.support.past import base, with_samples
from tests.support.web import RUNS, WITH_SAMPLES, client


@pytest.fixture
def own(tmp_path) -> Workspace:
    """A run that a test may change."""
    with_samples(tmp_path / "results" / WITH_SAMPLES)
    return Workspace(tmp_path)


def test_a_run_has_its_answer_cells_checks_and_conditions(pages):
    answer = pages.get(f"/runs/{WITH_SAMPLES}")
    shown, summary = answer.context, base()[1]
    assert shown["answer"] == written(summary)
    assert shown["summary"].conditions == summary.conditions
    assert {check.name for check in shown["checks"]} == {check.name for check in summary.checks}
    assert shown["tables"] == result_tables.tables(summary, is_full=True)
    for cell in summary.cells:
        assert f"{cell.distribution.median * 1000:.1f}" in answer.text
        assert f"cell={cell.stack}" in answer.text


def test_a_run_without_its_samples_says_why_it_is_not_judged(pages):
    shown = pages.get(f"/runs/{RUNS[0]}").context
    assert shown["summary"] is None
    assert f"results/{RUNS[0]}/baselines/" in shown["trouble"]


def test_a_damaged_run_says_why(own):
    (own.results / WITH_SAMPLES / "plan.json").write_text("{}")
    answer = client(own).get(f"/runs/{WITH_SAMPLES}")
    assert answer.status_code == 200
    assert "plan.json" in answer.context["trouble"]


def test_runs_that_were_killed_or_only_begun_have_a_page(own):
    pages = client(own)
    for folder in (begun(own.results), killed(own.results, at_s=1_795_229_900.0)):
        folder.release()
        answer = pages.get(f"/runs/{folder.id}")
        assert (answer.status_code, answer.context["run"].state) == (200, "interrupted")


def test_a_run_in_progress_leads_to_the_page_that_follows_it(own):
    folder = RunFolder(own.results / WITH_SAMPLES)
    folder.hold()
    try:
        pages = client(own)
        assert pages.get(f"/runs/{WITH_SAMPLES}").context["summary"] is None
        assert pages.get(f"/runs/{WITH_SAMPLES}/report").status_code == 400
        assert not own.reports.exists()
    finally:
        folder.release()


def test_the_report_is_made_once_and_again_when_the_run_is_newer(own):
    pages = client(own)
    answer = pages.get(f"/runs/{WITH_SAMPLES}/report")
    assert answer.headers["content-type"].startswith("text/html")
    (report,) = own.reports.glob("*.html")
    assert answer.content == report.read_bytes()
    report.write_text("kept")
    assert pages.get(f"/runs/{WITH_SAMPLES}/report").text == "kept"
    (own.results / WITH_SAMPLES / "manifest.json").touch()
    assert pages.get(f"/runs/{WITH_SAMPLES}/report").text != "kept"


def test_a_run_without_samples_has_no_report(pages):
    assert pages.get(f"/runs/{RUNS[0]}/report").status_code == 422


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("csv", b'"run",'),
        ("json", b"{"),
        ("excel", b"PK"),
        ("markdown", b"# Which one is quicker?"),
        ("parquet", b"PAR1"),
    ],
)
def test_exports_are_downloads(pages, name, begins, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    answer = pages.get(f"/runs/{WITH_SAMPLES}/export?format={name}")
    assert answer.status_code == 200
    assert re.match(rf'attachment; filename="{WITH_SAMPLES}\.\w+"', answer.headers["content-disposition"])
    assert answer.content.removeprefix(b"\xef\xbb\xbf").lower().startswith(begins.lower())
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_has_a_hint(pages):
    answer = pages.get(f"/runs/{WITH_SAMPLES}/export?format=cvs")
    assert (answer.status_code, answer.context["hint"]) == (400, "Did you mean csv?")
