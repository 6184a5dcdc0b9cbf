"""One measurement entered as several trials: its spread would be that of nothing."""

from dataclasses import replace

import pytest

from orchestrator.summarise import summarise
from services.python.contract.counters import Clocks
from tests.support.judged import of
from tests.support.runs import S, a_run


def with_trials(run, changed):
    run.stored = replace(run.stored, trials=tuple(changed(trial) for trial in run.stored.trials))
    return run


def the_file_of_the_first(run):
    first = {}

    def same(trial):
        one = first.setdefault(trial.cell, trial)
        return replace(trial, requesters=one.requesters, stats=one.stats, stats_before=one.stats_before)

    return with_trials(run, same)


def a_copy_an_hour_later(run):
    """The second trial's rows are the first one's, moved in time, in a file of its own."""
    cell = run.stored.plan["cells"][0]["id"]
    one, other, *_ = (trial for trial in run.stored.trials if trial.cell == cell)
    rows = {name: values.copy() for name, values in run.files[one.requesters[0].samples].items()}
    for name in ("intended_ns", "sent_ns", "received_ns"):
        rows[name] += 3600 * S
    said, hour_ns = one.requesters[0].done, 3600 * S
    anchors = {
        name: Clocks(wall_ns=clocks.wall_ns + hour_ns, monotonic_ns=clocks.monotonic_ns + hour_ns)
        for name, clocks in (("anchor", said.anchor), ("anchor_end", said.anchor_end))
    }
    done = replace(said, **anchors)
    run.files[other.requesters[0].samples] = rows

    def moved(trial):
        return replace(trial, requesters=(replace(trial.requesters[0], done=done),)) if trial is other else trial

    return with_trials(run, moved)


def test_one_file_for_five_trials_fails_and_no_stack_wins():
    run = the_file_of_the_first(a_run())
    found = [result for result in of(run, "completeness") if result.verdict == "fail"]
    assert [len(result.evidence["trials"]) for result in found] == [5, 5]
    assert {c.standing for c in summarise(run).comparisons} == {"cannot tell"}


def test_a_copy_that_was_moved_in_time_fails():
    (first, *_) = of(a_copy_an_hour_later(a_run()), "completeness")
    assert first.verdict == "fail"
    assert "One measurement appears 2 times" in first.explanation


def test_the_samples_of_another_cell_fail():
    run = a_run()
    one, other = run.stored.trials[:2]
    run.files[other.requesters[0].samples] = run.files[one.requesters[0].samples]
    (first, *_) = of(run, "completeness")
    assert (first.verdict, first.cell) == ("fail", None)


@pytest.mark.parametrize("seed", [1, 2])
def test_trials_that_are_their_own_pass(seed):
    assert {result.verdict for result in of(a_run(seed=seed), "completeness")} == {"pass"}
