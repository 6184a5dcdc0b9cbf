"""`orch runs`: what it shows of runs as they are, of damaged ones, and of an index that is none."""

import hashlib
import io
import json
import shutil
from pathlib import Path

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.runs import listing, trends
from orchestrator.errors import UsageError
from orchestrator.results.documents import read_sealed, sealed, write_json
from tests.support.folders import begun, killed
from tests.support.past import a_past_run

RESULTS = Path("results")
INDEX = Path(".orch/history.sqlite3")


def a_run_called(name, **knobs):
    return a_past_run(RESULTS / name, **knobs)


def shown(**knobs):
    console.out = io.StringIO()
    listing.list_runs(**{"limit": 30, **knobs})
    return console.out.getvalue()


def listed(**knobs):
    console.as_json = True
    try:
        return json.loads(shown(as_json=True, **knobs))["runs"]
    finally:
        console.as_json = False


def ids(**knobs):
    return [run["id"] for run in listed(**knobs)]


def test_a_row_has_what_tells_a_run_from_others():
    a_run_called("20261121-025500-synthetic-4f3a")
    lines = shown().splitlines()
    for text in (
        "20261121-025500-synthetic-4f3a",
        "complete",
        "rest (thin), grpc (thin)",
        "passed",
    ):
        assert text in lines[1]
    assert "grpc" in lines[1].split("passed")[1], "the first sentence of the answer"
    (run,) = listed()
    assert run["provider"] == "local"
    assert run["validity"] in ("valid", "warned")


def test_words_must_all_be_there():
    a_run_called("a", experiment="early")
    a_run_called("b", experiment="late", started="2026-11-23T10:00:00+00:00")
    assert ids(find="2026-11-21") == ["a"]
    assert ids(find="rest late") == ["b"]
    assert shown(find="late early") == "no run matches\n", "each holds for some, both for none"


def test_a_note_is_listed_with_its_run_and_found():
    a_run_called("a")
    a_run_called("b")
    assert ids(find="kernel") == []
    listing.note("b", "after the\n kernel update")
    assert ids(find="kernel") == ["b"]
    assert "(1 note)" in shown(find="kernel")
    assert listed(find="kernel")[0]["notes"][0].endswith("  after the kernel update")
    with pytest.raises(UsageError, match="a note has words"):
        listing.note("a", " ")


def cells_of(**knobs):
    console.out = io.StringIO()
    trends.trend(None, **knobs)
    return console.out.getvalue()


def test_cells_are_those_of_the_runs_that_were_chosen():
    a_run_called("a", experiment="early")
    a_run_called("b", experiment="late")
    assert cells_of().splitlines()[1].startswith("2 ")
    assert cells_of(find="early").splitlines()[1].startswith("1 ")
    assert "no run with" in cells_of(find="2030-01-01")


def test_a_run_that_was_judged_since_is_read_again():
    a_run_called("a", judged=False)
    assert "not judged" in shown()
    a_run_called("b")
    path = a_run_called("c")
    document, _ = read_sealed(path / "summary.json")
    digest = hashlib.sha256((RESULTS / "a" / "manifest.json").read_bytes()).hexdigest()
    write_json(
        RESULTS / "a" / "summary.json",
        sealed({**document, "run": {**document["run"], "id": "a", "manifest_sha256": digest}}),
    )
    assert "not judged" not in shown()
    shutil.rmtree(RESULTS / "a")
    assert ids() == ["c", "b"]


def test_a_killed_run_is_interrupted_and_a_held_one_in_progress():
    killed(RESULTS)
    assert [run["state"] for run in listed()] == ["interrupted"]
    held = begun(RESULTS, at_s=1_795_239_802.0)
    assert [run["state"] for run in listed()] == ["in progress", "interrupted"]
    held.release()


@pytest.mark.parametrize("content", [b"garbage, and no database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_index_is_made_anew(content):
    a_run_called("a")
    assert ids() == ["a"]
    INDEX.write_bytes(content)
    assert ids() == ["a"]
    assert INDEX.read_bytes() != content


def test_where_no_index_can_be_kept_runs_are_read_from_their_folders(monkeypatch):
    a_run_called("a")
    Path(".orch").write_text("no folder")
    assert ids() == ["a"]


def test_where_there_is_no_run_the_way_to_one_is_told_and_a_stacks_label_is_suggested():
    assert "no run here has been judged" in cells_of()
    with pytest.raises(UsageError) as refused:
        trends.trend(["grpc"])
    assert "`orch run FILE` makes one" in refused.value.hint
    a_run_called("a")
    with pytest.raises(UsageError) as refused:
        trends.trend(["grpc (thn)"])
    assert "Did you mean grpc (thin)" in refused.value.hint
