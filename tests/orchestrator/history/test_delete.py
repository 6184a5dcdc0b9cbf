"""`orch runs delete`: what goes, and what is refused."""

import io
import json
import shutil
from pathlib import Path

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.runs import listing
from orchestrator.errors import UsageError
from orchestrator.report import path_of
from tests.support.past import STARTED, a_past_run
from tests.support.printed import printed

RESULTS = Path("results")


def listed():
    console.out, console.as_json = io.StringIO(), False
    listing.list_runs(limit=30, as_json=True)
    console.as_json = False
    return {run["id"]: run for run in json.loads(printed(console.out))["runs"]}


def test_a_deleted_run_is_gone_with_its_report_its_notes_and_its_row():
    a_past_run(RESULTS / "old")
    a_past_run(RESULTS / "very-old")
    listing.note("old", "never mind")
    pages = [path_of("synthetic", STARTED, run, Path("reports")) for run in ("old", "very-old")]
    for page in pages:
        page.parent.mkdir(exist_ok=True)
        page.write_text("a page")
    assert listed().keys() == {"old", "very-old"}
    listing.delete(["old"], yes=True)
    assert [path.name for path in RESULTS.iterdir()] == ["very-old"]
    assert [page.exists() for page in pages] == [False, True]
    assert listed().keys() == {"very-old"}
    assert list(Path(".orch/notes").iterdir()) == []
    assert str(pages[0]) in printed(console.err)


def test_nothing_is_deleted_without_a_yes(monkeypatch):
    a_past_run(RESULTS / "a", judged=False)
    with pytest.raises(UsageError, match="nobody can be asked"):
        listing.delete(["a"])

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    with pytest.raises(UsageError, match="nothing was deleted"):
        listing.delete(["a"])
    assert (RESULTS / "a").is_dir()
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    listing.delete(["a"])
    assert not (RESULTS / "a").exists()


def test_nothing_outside_of_results_is_deleted_and_no_link_is_followed(tmp_path):
    a_past_run(RESULTS / "a", judged=False)
    elsewhere = tmp_path / "elsewhere" / "b"
    shutil.copytree(RESULTS / "a", elsewhere)
    (RESULTS / "link").symlink_to(elsewhere)
    (RESULTS / "a" / "outside").symlink_to(elsewhere)
    for named in (str(elsewhere), "../elsewhere/b", "results/../../elsewhere/b"):
        with pytest.raises(UsageError, match="does not lie in"):
            listing.delete([named], yes=True)
    for named in ("results/link", "link"):
        with pytest.raises(UsageError, match="does not lie in"):
            listing.delete([named], yes=True)
    with pytest.raises(UsageError):
        listing.delete(["results/a/samples"], yes=True)
    listing.delete(["a"], yes=True)
    assert (elsewhere / "journal.jsonl").is_file()
    assert (RESULTS / "link").is_symlink()


def test_a_run_whose_hosts_are_up_is_not_deleted():
    a_past_run(RESULTS / "a", judged=False)
    with pytest.raises(UsageError, match="hosts of run a are up"):
        listing.find_deletable("a", {"a"})
