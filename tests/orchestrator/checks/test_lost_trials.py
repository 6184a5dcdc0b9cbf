"""What is missing or invalid decides nothing: lost trials, invalid controls, blocks of too few requests."""

from dataclasses import replace

import pytest

from orchestrator.between_runs.across import compare_runs, compare_within
from orchestrator.errors import Undecided
from orchestrator.experiment.plan.plan import Load
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from orchestrator.wording.gate import judge
from tests.support.findings import measured
from tests.support.made_up import clock_that_stops_at
from tests.support.runs import MemoryRun, a_run


def without(run, protocol, blocks):
    """The run, of which the trials of one stack failed in these blocks."""
    trials = tuple(
        replace(t, outcome="failed", requesters=()) if protocol in t.cell and t.block in blocks else t
        for t in run.stored.trials
    )
    return MemoryRun(stored=replace(run.stored, trials=trials), files=run.files)


def described(run):
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
    judgement = described(without(quick(grpc=grpc), lost_by, {1}))
    assert judgement["median"].standing == standing
    assert judgement["throughput"].standing == standing
    if standing == "cannot tell":
        reason = judgement["median"].reason
        assert (reason.kind, reason.numbers) == (ReasonKind.SURVIVORS, {"failed": 1, "of": 6})
        assert judgement["median"].interval is None


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
    new, old = (measured(summarise(runs[name]), id=name) for name in ("new", "old"))
    row = next(r for r in compare_runs(new, old, "median").rows if "grpc" in r.cell)
    assert row.verdict == verdict
    if verdict == "cannot tell":
        assert row.reason.kind is ReasonKind.SURVIVORS


def test_a_run_that_lost_trials_does_not_pass_as_surely_not_slower():
    new, old = quick(seed=2), quick()
    after, before = (measured(summarise(run), id=name) for run, name in ((new, "new"), (old, "old")))
    assert {row.verdict for row in compare_runs(after, before, "median").rows} == {"not resolved"}
    assert judge(compare_runs(after, before, "median"), 0.5).error is None
    cut = measured(summarise(without(new, "grpc", {2})), id="new")
    error = judge(compare_runs(cut, before, "median"), 0.5).error
    assert isinstance(error, Undecided)
    assert "1 of 6 trials failed entirely" in error.message


def standings(run):
    return {(c.stack, c.statistic): (c.standing, c.interval) for c in summarise(run).comparisons if not c.control}


def test_an_invalid_control_changes_no_comparison_of_others():
    judgement = standings(a_run(controls=1, spoil=clock_that_stops_at(0.5, "-aa")))
    assert judgement == standings(a_run(controls=1, spoil=clock_that_stops_at(0.1, "-aa")))
    assert {standing for standing, _ in judgement.values()} == {"faster"}


LOAD = Load(requests=1000, duration_s=0.2)  # whichever comes first


def cut_off_by_time(draft):
    """Every other trial of one stack ends after 900 requests."""
    if draft.block % 2 and "grpc" in draft.cell.stack:
        kept = draft.columns["sequence"] <= 950
        draft.columns = {name: values[kept] for name, values in draft.columns.items()}
        draft.done |= {"rows": 950, "requests": 900, "verified": 900}
        draft.stats["answered"] = 952


@pytest.fixture(scope="module")
def old():
    return measured(summarise(a_run(blocks=6, load=LOAD, seed=2)), id="old")


@pytest.fixture(scope="module")
def new():
    return measured(summarise(a_run(blocks=6, load=LOAD, spoil=cut_off_by_time)), id="new")


def test_stacks_are_not_compared_by_the_blocks_that_are_left(new):
    judgement = {c.statistic: c for c in new.comparisons}
    assert (judgement["p99"].standing, judgement["p99"].ratio, judgement["p99"].reason.kind) == (
        "cannot tell",
        None,
        ReasonKind.MISSING,
    )
    assert judgement["median"].interval
    assert judgement["throughput"].interval


@pytest.mark.parametrize("order", ["new against old", "old against new"])
def test_runs_are_not_compared_by_the_blocks_that_are_left(order, new, old):
    pair = (new, old) if order.startswith("new") else (old, new)
    row = next(r for r in compare_runs(*pair, "p99").rows if r.label.startswith("grpc"))
    assert (row.verdict, row.ratio, row.reason.kind) == ("cannot tell", None, ReasonKind.MISSING)


def test_the_gate_does_not_pass(new, old):
    for comparison in (compare_within(new, "p99"), compare_runs(new, old, "p99")):
        error = judge(comparison, 1.0).error
        assert isinstance(error, Undecided)
        assert "3 of 6 blocks have no value" in error.message
