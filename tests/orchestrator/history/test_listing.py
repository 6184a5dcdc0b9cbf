"""`orch runs`: what it shows of runs as they are, of damaged ones, and of an index that is none."""

import hashlib
import io
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.runs import listing, trends
from orchestrator.errors import MissingError, UsageError
from orchestrator.history import index, noted
from orchestrator.history import run_record as reading
from orchestrator.results.documents import read_sealed, sealed, write_json
from tests.support.folders import begun, killed
from tests.support.past import a_past_run
from tests.support.unprivileged import as_nobody

RESULTS = Path("results")
INDEX = Path(".orch/history.sqlite3")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Calls are made in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "as_json", False)
    monkeypatch.setattr(console, "out", io.StringIO())
    monkeypatch.setattr(console, "err", io.StringIO())
    monkeypatch.setenv("COLUMNS", "200")


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


def test_no_runs_is_said_and_nothing_is_made():
    assert "there is no run here" in shown()
    assert list(Path().iterdir()) == []


def test_a_row_has_what_tells_a_run_from_others():
    a_run_called("20261121-025500-synthetic-4f3a")
    lines = shown().splitlines()
    for text in (
        "20261121-025500-synthetic-4f3a",
        "2026-11-21 02:55",
        "complete",
        "rest (thin), grpc (thin)",
        "passed",
    ):
        assert text in lines[1]
    assert "grpc" in lines[1].split("passed")[1], "the first sentence of the answer"
    (run,) = listed()
    assert run["trials"] == 6
    assert run["samples"] == 6_000
    assert run["provider"] == "local"
    assert run["is_ours"] is True
    assert run["validity"] in ("valid", "warned")


def test_the_newest_run_stands_first_and_a_narrow_terminal_gets_the_sentence_below(monkeypatch):
    for day in (20, 22, 21):
        a_run_called(f"r{day}", started=f"2026-11-{day}T00:00:00+00:00")
    assert ids() == ["r22", "r21", "r20"]
    monkeypatch.setenv("COLUMNS", "60")
    lines = shown(limit=1).splitlines()
    assert lines[2].startswith("    ")
    assert len(lines[2]) <= 60
    assert lines[-1] == "1 of 3 runs; --limit shows more"


def test_filters_must_all_hold_and_a_word_that_is_unknown_names_the_nearest():
    a_run_called("a", experiment="one")
    a_run_called("b", experiment="two", started="2026-11-23T10:00:00+00:00")
    listing.tag("b", ["v1.2"])
    for day in ("2026-11-21", "20261121", "2026-W47-6"):
        assert ids(until=day) == ["a"], "the day counts whole, however it is written"
    assert ids(tag="v1.2", experiment="one") == []
    assert "no run matches: no stack 'GRPC-thin'. Did you mean grpc-thin?" in shown(stack="GRPC-thin")
    assert "no experiment 'oen'. Did you mean one?" in shown(experiment="oen")
    assert "no tag 'v1'. Did you mean v1.2?" in shown(tag="v1")
    assert shown(tag="v1.2", experiment="ONE") == "no run matches\n", "each holds for some, both for none"
    with pytest.raises(UsageError, match="is no date"):
        listing.list_runs(since="yesterday", limit=30)
    with pytest.raises(UsageError, match="is not known"):
        listing.list_runs(verdict="fine", limit=30)


def cells_of(**knobs):
    console.out = io.StringIO()
    trends.trend(None, **knobs)
    return console.out.getvalue()


def test_the_cells_that_are_listed_are_those_of_the_runs_that_were_chosen():
    a_run_called("a", experiment="one")
    a_run_called("b", experiment="two")
    assert cells_of().splitlines()[1].startswith("2 ")
    assert cells_of(experiment="one").splitlines()[1].startswith("1 ")
    assert "rest" not in cells_of(stack="grpc-thin")
    assert "fewer conditions find more" in cells_of(since="2030-01-01")
    assert "Did you mean grpc-thin or grpc (thin)?" in cells_of(stack="grpc-thn")


def test_a_run_that_did_not_change_is_not_read_again(monkeypatch):
    a_run_called("a")
    a_run_called("b")
    assert len(ids()) == 2
    read = []
    monkeypatch.setattr(reading, "read_run", lambda folder: read.append(folder.path.name))
    assert len(ids()) == 2
    assert read == []
    monkeypatch.undo()


def test_a_run_that_was_judged_since_is_read_again(tmp_path):
    a_run_called("a", judged=False)
    assert "not judged" in shown()
    a_run_called("b")
    path = a_run_called("c")
    document = read_sealed(path / "summary.json")
    digest = hashlib.sha256((RESULTS / "a" / "manifest.json").read_bytes()).hexdigest()
    write_json(RESULTS / "a" / "summary.json", sealed({**document, "run_id": "a", "manifest_sha256": digest}))
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
def test_a_file_that_is_no_index_is_named_and_made_anew_on_request(content):
    a_run_called("a")
    assert ids() == ["a"]
    INDEX.write_bytes(content)
    with pytest.raises(MissingError) as refused:
        ids()
    assert str(INDEX) in refused.value.message
    assert INDEX.read_bytes() == content
    trends.trend(None, rebuild=True)
    assert ids() == ["a"]


def test_a_database_of_somebody_else_is_left_as_it_is():
    INDEX.parent.mkdir()
    with closing(sqlite3.connect(INDEX)) as connection, connection:
        connection.execute("CREATE TABLE mine (x)")
    a_run_called("a")
    with pytest.raises(UsageError) as refused:
        ids()
    assert str(INDEX) in refused.value.message
    with closing(sqlite3.connect(INDEX)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


@pytest.mark.parametrize("change", ["UPDATE about SET value = '99' WHERE name = 'version'", "DELETE FROM about"])
def test_an_index_of_another_version_is_made_anew(change):
    a_run_called("a")
    ids()
    with closing(sqlite3.connect(INDEX)) as connection, connection:
        connection.execute(change)
        connection.execute("DROP TABLE cells")
    assert ids(stack="grpc-thin") == ["a"]


def test_where_no_index_can_be_kept_runs_are_read_from_their_folders(monkeypatch):
    a_run_called("a")
    Path(".orch").write_text("no folder")
    assert ids() == ["a"]
    assert "cannot be kept" in console.err.getvalue()


def test_a_read_only_state_folder_is_said():
    def work():
        assert ids() == ["a"]
        assert "cannot be kept" in console.err.getvalue()

    a_run_called("a")
    assert ids() == ["a"]
    INDEX.unlink()
    Path(".orch").chmod(0o500)
    as_nobody(work, Path())
    assert not INDEX.exists()
    Path(".orch").chmod(0o700)


def test_an_index_that_another_program_writes_is_read_into_memory(monkeypatch):
    a_run_called("a")
    ids()
    a_run_called("b")
    monkeypatch.setattr(index, "_WAIT_S", 0)
    with closing(sqlite3.connect(INDEX)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert sorted(ids()) == ["a", "b"]
    assert "locked" in console.err.getvalue()


def test_a_rebuilt_index_keeps_notes_and_tags():
    a_run_called("a")
    listing.note("a", "the first one after the update")
    listing.tag("a", ["release", "v2"])
    before = listed()
    INDEX.unlink()
    trends.trend(None, rebuild=True)
    assert listed() == before
    assert "[release] [v2]" in shown()
    assert "[release] [v2] (1 note) grpc (thin) answered" in shown()
    console.out = io.StringIO()
    listing.note("a")
    assert "the first one after the update" in console.out.getvalue()
    listing.tag("a", ["v2"], remove=True)
    assert listed()[0]["tags"] == ["release"]


@pytest.mark.parametrize("wrong", ["two words", "", "-x", "\x1b[31m", "x" * 61])
def test_a_tag_is_a_word(wrong):
    a_run_called("a", judged=False)
    with pytest.raises(UsageError, match="cannot be a tag"):
        listing.tag("a", [wrong])
    with pytest.raises(UsageError, match="has no tag"):
        listing.tag("a", ["absent"], remove=True)
    with pytest.raises(UsageError, match="between 1 and"):
        listing.note("a", "  ")


def test_notes_that_were_damaged_are_named_and_not_written_over():
    a_run_called("a", judged=False)
    listing.note("a", "precious")
    file = Path(".orch/notes/a.json")
    file.write_text(file.read_text()[:-10])
    with pytest.raises(MissingError, match="cannot be read"):
        listing.note("a", "another")
    assert "precious" in file.read_text()
    ids()
    assert "a.json cannot be read" in console.err.getvalue()


def test_a_note_of_several_lines_is_shown_in_lines():
    a_run_called("a", judged=False)
    listing.note("a", "one\r\ntwo\nthree")
    assert noted.read(Path(".orch/notes"), "a").notes[0].text == "one\ntwo\nthree"
    lines = console.out.getvalue().splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["one", "two", "three"]
    assert [line.index(line.split()[-1]) for line in lines[1:]] == [20, 20, 20]


# What a folder may hold that is no run as orch writes them.


def test_a_half_written_run_is_shown_with_why_it_cannot_be_read():
    a_run_called("good")
    half = RESULTS / "half"
    half.mkdir()
    (half / "journal.jsonl").write_text('{"event":"begin"')
    torn = a_run_called("torn", judged=False)
    lines = (torn / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (torn / "journal.jsonl").write_bytes(b"".join([lines[0], lines[2]]))
    found = {run["id"]: run for run in listed()}
    assert found["good"]["state"] == "complete"
    assert found["half"]["state"] == "unreadable"
    assert "how the run began" in found["half"]["trouble"]
    assert "line 2" in found["torn"]["trouble"]


def test_a_run_of_a_newer_version_is_named_as_such():
    path = a_run_called("newer")
    document = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({**document, "schema_version": 99, "more": 1}))
    (run,) = listed()
    assert run["state"] == "unreadable"
    assert "99" in run["trouble"]


def test_a_copy_says_whose_copy_it_is_and_that_it_was_not_made_here():
    a_run_called("a")
    shutil.copytree(RESULTS / "a", RESULTS / "b")
    found = {run["id"]: run for run in listed()}
    assert (found["a"]["is_ours"], found["b"]["is_ours"]) == (True, False)
    assert found["b"]["run_id"] == "a"
    assert "b*" in shown()
    assert "* not made here" in shown()


def test_a_summary_that_was_changed_is_not_shown():
    path = a_run_called("a")
    document = json.loads((path / "summary.json").read_text())
    document["verdicts"] = ["grpc wins by far"]
    (path / "summary.json").write_text(json.dumps(document))
    (run,) = listed()
    assert run["verdict"] == ""
    assert "changed or damaged" in run["trouble"]


def test_a_plan_that_is_changed_after_it_was_listed_is_noticed():
    path = a_run_called("a")
    assert listed()[0]["state"] == "complete"
    plan = (path / "plan.json").read_text()
    (path / "plan.json").write_text(plan.replace('"question": "', '"question": "Other: ', 1))
    assert (path / "plan.json").read_text() != plan
    (run,) = listed()
    assert run["state"] == "unreadable"
    assert "plan.json" in run["trouble"]


def test_names_that_act_on_a_terminal_or_a_page_are_shown_as_they_are(monkeypatch):
    a_run_called("a", experiment="<script>alert(1)</script>")
    a_run_called("b", experiment="\x1b[2Jgone\u202e")
    text = shown()
    assert "<script>" in text
    assert "\x1b" not in text
    assert "\\x1b[2Jgone" in text
    assert {run["name"] for run in listed()} == {"<script>alert(1)</script>", "\x1b[2Jgone\u202e"}


def test_names_that_are_no_text_and_hidden_ones_are_passed_over():
    a_run_called("a", judged=False)
    shutil.copytree(RESULTS / "a", RESULTS / ".importing-x")
    bad = os.fsencode(RESULTS) + b"/\xff\xfe"
    os.mkdir(bad)  # noqa: PTH102 - bytes
    with open(bad + b"/journal.jsonl", "w") as file:  # noqa: PTH123
        file.write("{}")
    assert ids() == ["a"]


def test_where_there_is_no_run_the_way_to_one_is_told_and_a_stacks_label_is_suggested():
    assert "there is no run here" in cells_of()
    with pytest.raises(UsageError) as refused:
        trends.trend(["grpc"])
    assert "there is no run here" in refused.value.hint
    a_run_called("a")
    with pytest.raises(UsageError) as refused:
        trends.trend(["grpc (thn)"])
    assert "Did you mean grpc (thin)" in refused.value.hint


def test_what_a_change_is_stands_once_below_all_cells_and_one_run_alone_finds_none():
    a_run_called("a")
    console.out = io.StringIO()
    trends.trend(["rest", "grpc-thin"])
    alone = console.out.getvalue()
    assert alone.count("One run alone") == 2
    assert "held against all" not in alone
    assert "No change found" not in alone
    a_run_called("b")
    console.out = io.StringIO()
    trends.trend(["rest", "grpc-thin"])
    assert console.out.getvalue().count("No change found.") == 2
    assert console.out.getvalue().count("held against all earlier ones") == 1
