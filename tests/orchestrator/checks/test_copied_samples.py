"""One measurement entered as several trials: its spread would be that of nothing."""

from dataclasses import replace

import pytest

from orchestrator.summarise import summarise
from tests.support.judged import of
from tests.support.runs import a_run


def with_trials(run, changed):
    run.stored = replace(run.stored, trials=tuple(changed(trial) for trial in run.stored.trials))
    return run


def the_file_of_the_first(run):
    first = {}

    def same(trial):
        one = first.setdefault(trial.cell, trial)
        return replace(trial, requesters=one.requesters, stats=one.stats, stats_before=one.stats_before)

    return with_trials(run, same)


def test_one_file_for_five_trials_fails_and_no_stack_wins():
    run = the_file_of_the_first(a_run())
    found = [result for result in of(run, "completeness") if result.verdict == "fail"]
    assert [len(result.evidence["trials"]) for result in found] == [5, 5]
    assert {c.standing for c in summarise(run).comparisons} == {"cannot tell"}


def test_the_samples_of_another_cell_fail():
    run = a_run()
    one, other = run.stored.trials[:2]
    run.files[other.requesters[0].samples] = run.files[one.requesters[0].samples]
    (first, *_) = of(run, "completeness")
    assert (first.verdict, first.cell) == ("fail", None)


@pytest.mark.parametrize("seed", [1, 2])
def test_trials_that_are_their_own_pass(seed):
    assert {result.verdict for result in of(a_run(seed=seed), "completeness")} == {"pass"}
