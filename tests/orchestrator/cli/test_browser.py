"""`--open`: a browser, and the path in any case."""

import io
import webbrowser
from pathlib import Path

import pytest

from orchestrator.cli import browser
from orchestrator.cli.console import console
from orchestrator.cli.results import report
from tests.support.runs import a_run, write_run


@pytest.fixture(autouse=True)
def opened(tmp_path, monkeypatch):
    """The addresses that a browser was told."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "as_json", False)
    monkeypatch.setattr(console, "out", io.StringIO())
    monkeypatch.setattr(console, "err", io.StringIO())
    told = []
    monkeypatch.setattr(webbrowser, "open", lambda address: told.append(address) or True)
    return told


@pytest.mark.slow
def test_the_report_is_opened_and_its_path_printed(opened):
    write_run(a_run(), Path("results/one"))
    report.report(["one"], opens=True)
    (address,) = opened
    printed = console.out.getvalue().splitlines()[0]
    assert address == Path(printed).resolve().as_uri()


@pytest.mark.slow
def test_nothing_is_opened_unless_asked(opened):
    write_run(a_run(), Path("results/one"))
    report.report(["one"])
    assert opened == []


@pytest.mark.parametrize("failure", [OSError("no such program"), webbrowser.Error("could not locate"), None])
def test_a_browser_that_cannot_be_started_is_a_warning(monkeypatch, failure):
    def fails(address):
        if failure is not None:
            raise failure
        return False

    monkeypatch.setattr(webbrowser, "open", fails)
    browser.show(Path("reports/x.html"))
    assert "warning:" in console.err.getvalue()
    assert "the report is in reports/x.html" in console.err.getvalue()


def test_a_run_without_a_report_says_that_there_is_none_to_open(opened):
    browser.show(None)
    assert opened == []
    assert "there is no report to open" in console.err.getvalue()
