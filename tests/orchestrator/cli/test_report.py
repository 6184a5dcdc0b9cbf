from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from orchestrator.cli import report
from orchestrator.cli.console import console
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.results.folder import RunFolder
from tests.support.runs import a_run, write_run


@pytest.fixture(autouse=True)
def out(tmp_path, monkeypatch):
    """Standard output of a call made in an empty folder with two runs in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "as_json", False)
    monkeypatch.setattr(console, "out", io.StringIO())
    for run_id in ("20261121-025500-one-aaaa", "20261121-030000-two-bbbb"):
        write_run(a_run(blocks=3), Path("results") / run_id)
    return console.out


def test_a_report_lies_under_reports_and_its_path_is_the_answer(out):
    report.command(["20261121-025500"])

    path = Path(out.getvalue().strip())
    assert path.parent == Path("reports")
    assert path.name == "synthetic-2023-11-14-20261121-025500-one-aaaa.html"
    assert "Which one is quicker?" in path.read_text(encoding="utf-8")


def test_each_run_gets_a_report_of_its_own(out):
    report.command(["results/20261121-025500-one-aaaa", "latest"])

    paths = [Path(line) for line in out.getvalue().splitlines()]
    assert len(set(paths)) == 2
    assert all(path.is_file() for path in paths)


def test_out_names_the_file(out):
    report.command(["latest"], out=Path("deep/x.html"))

    assert out.getvalue() == "deep/x.html\n"
    assert Path("deep/x.html").is_file()


def test_json_says_which_report_is_whose(out):
    report.command(["latest"], as_json=True)

    (entry,) = json.loads(out.getvalue())["reports"]
    assert entry["run"] == "20261121-030000-two-bbbb"
    assert Path(entry["report"]).is_file()


def test_what_analysis_found_is_stored_anew():
    folder = Path("results/20261121-030000-two-bbbb")
    (folder / "summary.json").write_text("{}")

    report.command(["latest"])

    summary = json.loads((folder / "summary.json").read_text())
    assert summary["name"] == "synthetic"
    assert json.loads((folder / "checks.json").read_text())["checks"] == summary["checks"]


def test_a_run_folder_that_cannot_be_written_to_still_has_a_report(out, monkeypatch):
    def refused(self, name, document):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(console, "err", io.StringIO())
    monkeypatch.setattr(RunFolder, "write_json", refused)

    report.command(["latest"])

    assert Path(out.getvalue().strip()).is_file()
    assert "Permission denied" in console.err.getvalue()


def test_one_file_cannot_hold_two_reports():
    with pytest.raises(UsageError, match="2 runs were asked for"):
        report.command(["20261121-025500", "latest"], out=Path("x.html"))
    assert not Path("x.html").exists()


def test_an_unknown_run_is_named_before_any_report_is_written():
    with pytest.raises(UsageError, match="nowhere"):
        report.command(["latest", "nowhere"])
    assert not Path("reports").exists()


def test_an_altered_file_is_named_and_no_report_is_left():
    samples = next(Path("results").glob("*two*/samples/*/*.parquet"))
    samples.write_bytes(samples.read_bytes()[:-7])

    with pytest.raises(InvalidMeasurement, match=samples.name):
        report.command(["latest"])
    assert not Path("reports").exists()


def test_the_same_stored_data_gives_the_same_report(out):
    report.command(["latest"], out=Path("a.html"))
    report.command(["latest"], out=Path("b.html"))

    assert Path("a.html").read_bytes() == Path("b.html").read_bytes()
