from __future__ import annotations

from orchestrator.measure.progress import Progress
from orchestrator.results.manifest import Failure, RequesterRecord, TrialRecord
from services.python.contract.requester_lines import Done
from tests.support.hosts import FakeTime, Told, done_line
from tests.support.lines import as_line


def record(**changes) -> TrialRecord:
    fields = {
        "index": 0,
        "block": 0,
        "cell": "c",
        "attempt": 0,
        "outcome": "ok",
        "started_wall_ns": 0,
        "ended_wall_ns": 0,
        "overhead_s": 0.0,
        "requesters": (
            RequesterRecord(
                host="h", done=as_line(Done, done_line(1_200, errors={"timeout": 2}, window_s=3.0)), samples=None
            ),
        ),
    }
    return TrialRecord(**{**fields, **changes})


def test_a_finished_trial_is_a_line_with_its_place_result_and_the_time_left():
    time, console = FakeTime(), Told()
    progress = Progress(listener=console, clock=time.clock(), total=3)
    for _ in range(2):
        progress.begin("rest")
        time.passes(90.0)
        progress.end(record())
    assert console.lines == [
        "[1/3] rest: 1,200 requests in 3 s, 2 errors  (3 min left)",
        "[2/3] rest: 1,200 requests in 3 s, 2 errors  (1 min 30 s left)",
    ]


def test_a_run_that_may_end_earlier_says_at_most():
    time, console = FakeTime(), Told()
    progress = Progress(listener=console, clock=time.clock(), total=3, at_most=True)
    progress.begin("rest")
    time.passes(90.0)
    progress.end(record())
    assert console.lines == ["[1 of at most 3] rest: 1,200 requests in 3 s, 2 errors  (at most 3 min left)"]


def test_the_time_left_grows_while_a_trial_takes_longer_than_expected_and_not_before():
    time, console = FakeTime(), Told()
    progress = Progress(listener=console, clock=time.clock(), total=4, trial_s=6.0)
    progress.begin("rest")
    time.passes(5.0)
    progress.in_round(0, 2)
    time.passes(15.0)
    progress.in_round(1, 2)
    progress.end(record())
    assert [line.rpartition("  ")[2] for line in console.live_lines] == ["(24 s left)", "(19 s left)", "(1 min left)"]
    assert console.lines[0].endswith("(1 min left)")


def test_cells_in_turns_share_the_time_that_they_take_together():
    time, console = FakeTime(), Told()
    progress = Progress(listener=console, clock=time.clock(), total=4)
    progress.begin("2 cells in turns", trials=2)
    time.passes(20.0)
    for _ in range(2):
        progress.begin("rest")
        progress.end(record())
    assert [line.rpartition("  ")[2] for line in console.lines] == ["(20 s left)", "(20 s left)"]


def test_a_failed_trial_says_where_and_why():
    console = Told()
    progress = Progress(listener=console, clock=FakeTime().clock(), total=1)
    progress.begin("rest")
    failure = Failure(stage="start", kind="responder-died", message="the responder died")
    progress.end(record(outcome="failed", failure=failure))
    assert console.lines == ["[1/1] rest: FAILED at start: the responder died"]


def test_trials_of_an_earlier_session_count_as_done_but_not_towards_the_pace():
    time, console = FakeTime(), Told()
    progress = Progress(listener=console, clock=time.clock(), total=10)
    progress.skip(8)
    progress.begin("rest")
    time.passes(5.0)
    progress.end(record())
    assert console.lines[0].startswith("[ 9/10]")
    assert console.lines[0].endswith("(5 s left)")
