"""What is read of a run in progress, from a journal that grows on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.clock import Clock
from orchestrator.results.folder import RunFolder
from orchestrator.web import live_view
from orchestrator.web.live_view import Reader
from tests.support.growing import Growing


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch):
    monkeypatch.setattr(live_view, "LOOK_S", 0.0)


@pytest.fixture
def run(tmp_path: Path) -> Growing:
    return Growing(tmp_path)


def reader_of(run: Growing, **changes) -> Reader:
    return Reader(RunFolder(run.folder.path), **changes)


def test_a_view_has_the_progress_and_the_latency_of_each_trial(run):
    reader = reader_of(run)
    assert reader.look().state == "running"
    run.measuring()
    run.trial(0, 1.5)
    view = reader.look()
    assert (view.progress.done, view.progress.trials, view.progress.cell) == (1, 4, "rest · echo 64 B")
    assert [(row.label, row.done, row.planned, row.median_ms) for row in view.rows] == [
        ("tcp · echo 64 B", 1, 2, 1.5),
        ("rest · echo 64 B", 0, 2, None),
    ]


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


def test_a_failed_trial_without_a_figure_counts_and_has_no_latency(run):
    run.measuring()
    run.trial(0, None, is_ok=False)
    view = reader_of(run).look()
    assert (view.rows[0].done, view.rows[0].failed, view.rows[0].median_ms) == (1, 1, None)


def test_trials_of_a_block_that_is_made_again_no_longer_count(run):
    run.measuring()
    run.trial(0, 1.0)
    reader = reader_of(run)
    assert reader.look().rows[0].done == 1
    run.block(0, attempt=1)
    assert reader.look().rows[0].done == 0
    run.trial(0, 2.0, attempt=1)
    assert reader.look().rows[0].median_ms == 2.0


def test_many_viewers_cost_one_look_a_second(run, monkeypatch):
    monkeypatch.setattr(live_view, "LOOK_S", 1.0)
    now_s = [100.0]
    reader = reader_of(run, clock=Clock(wall_ns=lambda: 0, monotonic_s=lambda: now_s[0]))
    before = reader.look()
    run.measuring()
    assert all(reader.look() is before for _ in range(100))
    now_s[0] += 1.0
    assert reader.look().progress.stage == "measure"


@pytest.mark.parametrize("state", ["complete", "interrupted"])
def test_a_run_has_ended_when_its_process_lets_go(run, state):
    run.measuring()
    run.trial(0)
    run.end(state)
    reader = reader_of(run)
    assert (reader.look().state, reader.look().is_going) == ("stopping", True)
    run.let_go()
    assert (reader.look().state, reader.look().is_going) == (state, False)
    assert reader.look().progress.done == 1


def test_a_run_that_let_go_without_an_end_was_killed(run):
    run.measuring()
    run.let_go()
    assert reader_of(run).look().state == "killed"


def test_a_run_that_was_refused_and_left_no_folder_is_gone(run):
    reader = reader_of(run)
    reader.look()
    run.folder.discard()
    assert (reader.look().state, reader.look().progress) == ("gone", None)


@pytest.mark.parametrize(
    "line", [b'{"event":"trial"}\n', b"\xff\xff\n", b'{"event":"begin","chain":"' + b"0" * 64 + b'"}\n']
)
def test_a_damaged_journal_is_unreadable(run, line):
    run.measuring()
    with (run.folder.path / "journal.jsonl").open("ab") as journal:
        journal.write(line)
    view = reader_of(run).look()
    assert (view.state, view.is_going) == ("unreadable", False)
    assert "line 5" in view.trouble
