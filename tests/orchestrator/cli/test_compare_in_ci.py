"""`orch compare` as a job of continuous integration calls it: its files, its exit codes, and bad input."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.results import compare
from orchestrator.errors import InvalidMeasurement, MissingError, Regression, Undecided, UsageError
from orchestrator.results.folder import RunFolder
from tests.support.compared import xml
from tests.support.plans import plan
from tests.support.runs import a_run, write_run

JUNIT, SUMMARY = Path("junit.xml"), Path("summary.md")


@pytest.fixture(autouse=True)
def out(tmp_path, monkeypatch):
    """Standard output of a call made in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "as_json", False)
    monkeypatch.setattr(console, "out", io.StringIO())
    monkeypatch.setattr(console, "err", io.StringIO())
    return console.out


def a_run_called(name, **knobs):
    write_run(a_run(**knobs), Path("results") / name)


def tags():
    return {child.tag for case in xml(JUNIT.read_text()).iter("testcase") for child in case}


def both(limit=None, **more):
    compare.compare("new", "old", fail_if_slower=limit, junit=JUNIT, markdown=SUMMARY, **more)


def test_both_files_are_written_when_the_gate_fails(out):
    a_run_called("old")
    a_run_called("new", seed=2, base_us={"rest": 450.0, "grpc": 300.0})
    with pytest.raises(Regression):
        both("5%")
    assert "failure" in tags()
    lines = SUMMARY.read_text().splitlines()
    assert lines[0].startswith("**Slower:** ")
    assert "orch compare new old --fail-if-slower 5%" in lines
    assert "new against old, by median" in out.getvalue()
    JUNIT.unlink()
    both()  # without the gate the same is found, and the call ends well
    assert "failure" in tags()


def test_what_is_undetermined_may_be_allowed_and_then_is_no_error(out):
    a_run_called("old")
    a_run_called("new", seed=2, blocks=2)
    with pytest.raises(Undecided):
        both("5%")
    assert tags() == {"error"}
    both("5%", allow_undetermined=True)
    assert tags() == {"skipped"}
    assert "--allow-undetermined lets it pass" in console.err.getvalue()
    assert SUMMARY.read_text().startswith("**Cannot tell:** ")


def test_what_matters_to_the_experiment_can_be_the_limit(out):
    a_run_called("one")
    compare.compare("one", fail_if_slower="matters", as_json=True)  # grpc is faster than rest there
    document = json.loads(out.getvalue())
    assert document["gate"]["limit"] == document["margin"]
    assert document["gate"]["overall"] == "not slower"
    assert document["gate"]["outcomes"] == ["not slower"] * len(document["rows"])


def test_one_file_may_be_stdout_which_then_holds_nothing_else(out):
    a_run_called("one")
    compare.compare("one", junit=Path("-"), markdown=SUMMARY)
    assert xml(out.getvalue()).tag == "testsuites"
    out.truncate(0)
    out.seek(0)
    compare.compare("one", markdown=Path("-"))
    assert out.getvalue() == SUMMARY.read_text()


def test_runs_without_a_cell_in_common_cannot_be_told_apart_by_a_gate(out):
    a_run_called("old", stacks=("rest",))
    a_run_called("new", seed=2, stacks=("grpc",))
    with pytest.raises(UsageError) as plainly:
        both()
    for allowed in (False, True):
        with pytest.raises(Undecided, match="protocol: grpc against rest") as gated:
            both("5%", allow_undetermined=allowed)
        assert tags() == {"error"}
    assert (plainly.value.exit_code, gated.value.exit_code) == (2, 8)
    assert SUMMARY.read_text().startswith("**Cannot tell:** ")


def test_a_run_is_not_compared_with_itself():
    a_run_called("one")
    with pytest.raises(UsageError, match="given twice"):
        compare.compare("one", "one", fail_if_slower="5%", junit=JUNIT)
    assert not JUNIT.exists()


@pytest.mark.parametrize("run", ["../one", "../../etc", "results/../../x", "/dev/null", "\x1b[31m", "ONE"])
def test_a_run_that_is_none_is_refused_and_no_file_is_written(run):
    a_run_called("one")
    with pytest.raises(UsageError, match="no run"):
        compare.compare(run, junit=JUNIT)
    assert not JUNIT.exists()


def test_a_run_of_which_nothing_is_stored_yet_is_refused_without_a_fault_of_ours():
    a_run_called("old")
    begun = RunFolder.create(plan("rest", repeats=3), command=["orch", "run"], root=Path("results"))
    begun.release()
    with pytest.raises((UsageError, InvalidMeasurement, Undecided)):
        compare.compare(begun.id, "old", fail_if_slower="5%", junit=JUNIT)


def test_a_half_written_run_cannot_tell():
    whole = a_run(seed=2, blocks=3)
    cut = replace(whole.stored, state="interrupted", trials=whole.stored.trials[:3])
    a_run_called("old")
    write_run(replace(whole, stored=cut), Path("results") / "new")
    with pytest.raises(Undecided):
        both("5%")
    assert "run new was interrupted: 3 of 6 trials are stored" in console.err.getvalue()


def test_a_folder_that_is_missing_is_made_and_a_place_that_cannot_be_is_named():
    a_run_called("one")
    compare.compare("one", junit=Path("made/for/it/junit.xml"))
    assert xml(Path("made/for/it/junit.xml").read_text()).tag == "testsuites"
    Path("file").write_text("x")
    with pytest.raises(MissingError, match=r"file/junit\.xml cannot be used"):
        compare.compare("one", junit=Path("file/junit.xml"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"junit": Path("-"), "markdown": Path("-")}, "only one document"),
        ({"junit": Path("-"), "as_json": True}, "only one document"),
        ({"junit": Path("x"), "markdown": Path("x")}, "both name x"),
        ({"junit": Path()}, "no regular file"),
        ({"markdown": Path("/dev/null")}, "no regular file"),
        ({"allow_undetermined": True}, "--fail-if-slower"),
    ],
)
def test_a_call_that_cannot_be_meant_is_refused_before_anything_is_read(options, words):
    with pytest.raises(UsageError, match=words):
        compare.compare("no such run", **options)
