"""What is read of a run in progress, from a journal that grows on disk."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.clock import Clock
from orchestrator.results.folder import RunFolder
from orchestrator.results.journal import Tail
from orchestrator.web import progress
from orchestrator.web.progress import Reader
from tests.support.growing import Growing
from tests.support.plans import plan


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch):
    monkeypatch.setattr(progress, "LEAST_BETWEEN_LOOKS_S", 0.0)


@pytest.fixture
def run(tmp_path: Path) -> Growing:
    return Growing(tmp_path)


def reader_of(run: Growing, **changes) -> Reader:
    return Reader(RunFolder(run.folder.path), **changes)


def test_it_says_what_runs_what_is_done_and_what_trials_took(run):
    reader = reader_of(run)
    assert reader.look().state == "running"
    run.measuring()
    run.trial(0, 1.5)
    view = reader.look()
    assert view.sentence.startswith("Trial 2 of 4, about ")
    assert view.sentence.endswith("0 of 2 blocks done.")
    assert view.progress.cell == "rest · echo 64 B"
    assert [(row.label, row.done, row.planned, row.median_ms) for row in view.rows] == [
        ("tcp · echo 64 B", 1, 2, 1.5),
        ("rest · echo 64 B", 0, 2, None),
    ]
    assert [(point.trial, point.row, point.median_ms) for point in view.points] == [(1, 0, 1.5)]


def test_a_cell_has_the_median_and_the_range_of_its_trials(run):
    run.measuring()
    for index, median_ms in enumerate((1.0, 5.0, 3.0, 5.5)):
        if index == 2:
            run.block_end(0)
            run.block(1)
        run.trial(index, median_ms)
    tcp, rest = reader_of(run).look().rows
    assert (tcp.median_ms, tcp.least_ms, tcp.most_ms) == (2.0, 1.0, 3.0)
    assert (rest.median_ms, rest.least_ms, rest.most_ms) == (5.25, 5.0, 5.5)


def test_a_failed_trial_and_one_without_a_figure_are_counted_and_have_no_latency(run):
    run.measuring()
    run.trial(0, None, is_ok=False)
    view = reader_of(run).look()
    assert (view.rows[0].done, view.rows[0].failed, view.rows[0].median_ms) == (1, 1, None)
    assert [point.median_ms for point in view.points] == [None]


def test_trials_of_a_block_that_is_made_again_no_longer_count(run):
    run.measuring()
    run.trial(0, 1.0)
    reader = reader_of(run)
    first = reader.look()
    run.block(0, attempt=1)
    again = reader.look()
    assert (first.counted, again.counted) == (1, 0)
    assert again.epoch > first.epoch
    run.trial(0, 2.0, attempt=1)
    assert reader.look().rows[0].median_ms == 2.0


def test_what_was_read_is_not_read_again(run, monkeypatch):
    run.measuring()
    read = []
    look = Tail.look

    def counted(tail, *arguments):
        events = look(tail, *arguments)
        read.extend(event["event"] for event in events)
        return events

    monkeypatch.setattr(Tail, "look", counted)
    reader = reader_of(run)
    reader.look()
    assert read == ["begin", "session", "stage", "block"]
    run.trial(0)
    reader.look()
    reader.look()
    assert read == ["begin", "session", "stage", "block", "trial"]


def test_however_many_ask_it_looks_once_a_second(run, monkeypatch):
    monkeypatch.setattr(progress, "LEAST_BETWEEN_LOOKS_S", 1.0)
    now_s = [100.0]
    reader = reader_of(run, clock=Clock(wall_ns=lambda: 0, monotonic_s=lambda: now_s[0]))
    before = reader.look()
    run.measuring()
    assert all(reader.look() is before for _ in range(100))
    now_s[0] += 1.0
    assert reader.look().progress.stage == "measure"


def test_a_line_that_is_being_written_waits_for_its_end(run):
    run.measuring()
    path = run.folder.path / "journal.jsonl"
    tail = Tail(path)
    assert len(tail.look()) == 4
    run.trial(0)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert tail.look() == []
    path.write_bytes(whole)
    assert [event["event"] for event in tail.look()] == ["trial"]


def test_a_look_takes_no_more_than_it_may(run):
    run.measuring()
    tail = Tail(run.folder.path / "journal.jsonl")
    assert [len(tail.look(most_bytes=1)) for _ in range(5)] == [1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("state", "words"),
    [("complete", "The run is complete."), ("interrupted", "The run was interrupted before its schedule ended.")],
)
def test_it_says_how_a_run_ended_once_nobody_works_on_it(run, state, words):
    run.measuring()
    run.trial(0)
    run.end(state)
    reader = reader_of(run)
    ending = reader.look()
    assert (ending.state, ending.is_stopping) == ("running", True)
    run.let_go()
    ended = reader.look()
    assert (ended.state, ended.is_stopping) == (state, False)
    assert ended.sentence.startswith(words)
    assert ended.sentence.endswith("1 of 4 trials are done.")


def test_a_run_whose_process_is_gone_was_killed(run):
    worker = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    run.session(worker.pid)
    run.let_go()
    reader = reader_of(run)
    assert reader.look().state == "running"
    assert reader.process().pid == worker.pid
    worker.kill()
    worker.communicate()
    assert reader.look().state == "killed"
    assert reader.look().sentence.startswith("The run was killed: its process is gone")
    assert reader.process() is None


def test_a_process_that_merely_has_the_number_is_not_believed(run):
    run.folder.append({"event": "session", "pid": 1, "started": "another time"})
    assert reader_of(run).process() is None
    run.let_go()
    assert reader_of(run).look().state == "killed"


def test_a_run_that_was_refused_and_left_no_folder_is_gone(run):
    reader = reader_of(run)
    reader.look()
    run.folder.discard()
    assert reader.look().state == "gone"


@pytest.mark.parametrize(
    "line", [b'{"event":"trial"}\n', b"\xff\xff\n", b'{"event":"begin","chain":"' + b"0" * 64 + b'"}\n']
)
def test_a_journal_that_orch_did_not_write_is_said_to_be_damaged(run, line):
    run.measuring()
    with (run.folder.path / "journal.jsonl").open("ab") as journal:
        journal.write(line)
    view = reader_of(run).look()
    assert view.state == "unreadable"
    assert "line 5 is not as it was written" in view.sentence


@pytest.mark.parametrize("trial", [None, [], {"index": "x"}, {"index": 1e300}])
def test_a_trial_of_another_shape_is_no_traceback(run, trial):
    run.measuring()
    run.folder.append({"event": "trial", "trial": trial})
    view = reader_of(run).look()
    assert view.state == "unreadable"
    assert json.dumps(view.sentence)


def test_a_session_of_another_shape_names_no_process(run):
    for pid in (True, -1, 0, 1 << 40, "1", None):
        run.folder.append({"event": "session", "pid": pid, "started": "then"})
        assert reader_of(run).process() is None


def test_only_the_newest_trials_of_a_long_run_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "MOST_POINTS", 3)
    run = Growing(tmp_path, plan("tcp", repeats=5)).measuring()
    for index in range(5):
        run.block(index)
        run.trial(index, index + 1.0)
    view = reader_of(run).look()
    assert [point.trial for point in view.points] == [3, 4, 5]
    assert (view.points_before, view.counted) == (2, 5)
    assert view.rows[0].median_ms == 3.0


def test_a_journal_that_cannot_be_opened_for_a_moment_is_read_on(run, monkeypatch):
    """As where a thousand connections have taken every file that this process may open."""
    run.measuring()
    run.trial(0, 1.0)
    known, fresh = reader_of(run), reader_of(run)
    before = known.look()
    with monkeypatch.context() as full:

        def refused(self):
            raise OSError(errno.EMFILE, "Too many open files")

        full.setattr(Tail, "look", refused)
        assert known.look() == before
        assert fresh.look().state == "unreadable"
    run.trial(1, 2.0)
    assert known.look().counted == fresh.look().counted == 2
