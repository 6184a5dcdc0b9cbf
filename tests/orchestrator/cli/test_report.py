from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.results import compare, report
from orchestrator.cli.runs import show
from orchestrator.errors import InvalidMeasurement, MissingError, UsageError
from orchestrator.results.folder import RunFolder
from tests.support.printed import printed
from tests.support.runs import a_run, write_run


@pytest.fixture(autouse=True)
def out(out):
    """Standard output of a call made in a folder with two runs."""
    for run_id in ("20261121-025500-one-aaaa", "20261121-030000-two-bbbb"):
        write_run(a_run(blocks=3), Path("results") / run_id)
    return out


def test_a_report_lies_under_reports_and_its_path_is_the_answer(out):
    report.report("20261121-025500")

    path = Path(out.getvalue().strip())
    assert path.parent == Path("reports")
    assert path.name == "synthetic-2023-11-14-20261121-025500-one-aaaa.html"
    assert "Which one is quicker?" in path.read_text(encoding="utf-8")


def test_a_summary_in_markdown_is_printed_or_written(out):
    report.report("latest", markdown=Path("-"))
    printed = out.getvalue()
    assert printed.startswith("# Which one is quicker?\n")

    report.report("latest", markdown=Path("deep/x.md"))
    assert Path("deep/x.md").read_text(encoding="utf-8").splitlines()[0] == "# Which one is quicker?"


def test_pictures_without_chromium_are_refused_before_anything_is_written(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingError, match="chromium"):
        report.report("latest", pictures=Path("drawn"))
    assert not Path("reports").exists()


def test_page_and_summary_do_not_share_a_file():
    with pytest.raises(UsageError, match="the same file"):
        report.report("latest", out=Path("x"), markdown=Path("x"))


def test_a_run_folder_that_cannot_be_written_to_still_has_a_report(out, monkeypatch):
    def refused(self, name, document):
        raise MissingError("the folder cannot be used: Permission denied")

    monkeypatch.setattr(RunFolder, "write_json", refused)

    report.report("latest")

    assert Path(out.getvalue().strip()).is_file()
    assert "Permission denied" in printed(console.err)


def test_out_names_the_file_and_the_same_stored_data_gives_the_same_report(out):
    report.report("latest", out=Path("deep/a.html"))
    report.report("latest", out=Path("b.html"))

    assert out.getvalue() == "deep/a.html\nb.html\n"
    assert Path("deep/a.html").read_bytes() == Path("b.html").read_bytes()


VERBS = {"report": lambda: report.report("latest"), "check": show.check, "compare": lambda: compare.compare("latest")}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_that_the_latest_run_is_still_in_progress(verb):
    folder = RunFolder.open("latest", root=Path("results"))
    folder.hold()
    with suppress(InvalidMeasurement):  # a check of the synthetic run may fail
        VERBS[verb]()
    folder.release()
    said = f"run {folder.id} is still in progress: what follows is of the trials stored so far"
    assert printed(console.err).count(said) == 1


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_how_much_of_an_interrupted_run_is_stored_and_how_it_goes_on(verb):
    run = a_run(blocks=3)
    stored = replace(run.stored, state="interrupted", trials=run.stored.trials[:-2])
    write_run(replace(run, stored=stored), Path("results") / "20261121-040000-cut-cccc")
    with suppress(InvalidMeasurement):
        VERBS[verb]()
    said = (
        "run 20261121-040000-cut-cccc was interrupted: 4 of 6 trials are stored; "
        "`orch run --resume 20261121-040000-cut-cccc` finishes it"
    )
    assert printed(console.err).count(said) == 1
