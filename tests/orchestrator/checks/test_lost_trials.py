"""Trials that failed as a whole: a stack gains nothing from the blocks that it lost."""

from dataclasses import replace

import pytest

from orchestrator.between_runs.across import compare_runs
from orchestrator.errors import Undecided
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from orchestrator.wording.gate import require_not_slower
from tests.support.runs import MemoryRun, a_run


def without(run, protocol, blocks):
    """The run, of which the trials of one stack failed in these blocks."""
    trials = tuple(
        replace(t, outcome="failed", requesters=()) if protocol in t.cell and t.block in blocks else t
        for t in run.stored.trials
    )
    return MemoryRun(stored=replace(run.stored, trials=trials), files=run.files)


def told(run):
    return {c.statistic: c for c in summarise(run).comparisons}


def quick(seed=1, **base_us):
    return a_run(seed=seed, blocks=6, base_us={"rest": 300.0, "grpc": 300.0, **base_us})


@pytest.mark.parametrize(
    ("grpc", "lost_by", "standing"),
    [
        (200.0, "grpc", "cannot tell"),
        (450.0, "grpc", "slower"),
        (200.0, "rest", "faster"),
        (450.0, "rest", "cannot tell"),
    ],
)
def test_who_lost_trials_is_not_called_the_faster_one(grpc, lost_by, standing):
    found = told(without(quick(grpc=grpc), lost_by, {1}))
    assert found["median"].standing == standing
    assert found["throughput"].standing == standing
    if standing == "cannot tell":
        reason = found["median"].reason
        assert (reason.kind, reason.numbers) == (ReasonKind.SURVIVORS, {"failed": 1, "of": 6})
        assert found["median"].interval is None


@pytest.mark.parametrize(
    ("grpc", "lost_by", "verdict"),
    [
        (150.0, "new", "cannot tell"),
        (600.0, "new", "regressed"),
        (150.0, "old", "improved"),
        (600.0, "old", "cannot tell"),
    ],
)
def test_of_two_runs_the_one_that_lost_trials_gains_nothing_either(grpc, lost_by, verdict):
    runs = {"new": quick(seed=2, grpc=grpc), "old": quick()}
    runs[lost_by] = without(runs[lost_by], "grpc", {2})
    new, old = (replace(summarise(runs[name]), run_id=name) for name in ("new", "old"))
    row = next(r for r in compare_runs(new, old, "median").rows if "grpc" in r.cell)
    assert row.verdict == verdict
    assert row.overhead.verdict == verdict
    if verdict == "cannot tell":
        assert row.reason.kind is ReasonKind.SURVIVORS


def test_a_run_that_lost_trials_does_not_pass_as_surely_not_slower():
    new, old = quick(seed=2), quick()
    compared = [replace(summarise(run), run_id=name) for run, name in ((new, "new"), (old, "old"))]
    assert {row.verdict for row in compare_runs(*compared, "median").rows} == {"not resolved"}
    require_not_slower(compare_runs(*compared, "median"), 0.5)
    cut = replace(summarise(without(new, "grpc", {2})), run_id="new")
    with pytest.raises(Undecided, match="1 of 6 trials failed entirely"):
        require_not_slower(compare_runs(cut, compared[1], "median"), 0.5)
