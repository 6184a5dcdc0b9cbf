"""A task is a sample, its calls are its parts; a fault of a task is found as one of a call is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.evidence.run_evidence import COLUMNS, Samples, parts_of
from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.plan import Contrast
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings.summary import RunSummary
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import explanation
from services.python.contract.lines import STATUSES
from tests.support.judged import of, verdicts
from tests.support.made_up import CLEAN, HERE, WEST
from tests.support.runs import MS, a_plan, a_run

CALLS = 3


def one_or_three(**given) -> RunSummary:
    one, three = (
        a_plan(task=task, contrasts=[Contrast(factor="calls", references=(1,))], **given) for task in (1, CALLS)
    )
    cells = (*one.cells, *three.cells)
    trials = tuple(schedule(cells, one.repeats, 1))
    return summarise(a_run(replace(one, operations=(*one.operations, *three.operations), cells=cells, trials=trials)))


def test_samples_are_tasks_alone():
    run = a_run(task=CALLS)
    path = next(path for path in run.files if path.startswith("samples/"))
    columns = run.samples(path, COLUMNS)
    samples = Samples(columns)
    assert (samples.recorded, samples.rows, samples.measured) == (1050 * 4, 1050, 1000)
    assert sorted(samples.columns["sequence"].tolist()) == list(range(1, 1051))
    took = parts_of(columns)
    assert [(place, of.size) for place, of in took.items()] == [(1, 1000), (2, 1000), (3, 1000)]
    assert (sum(took.values()) <= samples.call_ns).all(), "one task at a time: both are in the order of sending"


def test_parts_that_failed_or_were_warm_up_are_in_no_median():
    def failing(draft):
        draft.columns["status"][-100:] = STATUSES.index("timeout")

    (cell, _) = summarise(a_run(task=CALLS, spoil=failing)).cells
    assert [(part.name, part.n) for part in cell.details.parts] == [
        ("call 1", 5000),
        ("call 2", 5000),
        ("call 3", 4500),
    ]


def test_three_calls_are_compared_with_one():
    run = one_or_three(stacks=("grpc",))
    (judgement,) = [c for c in run.comparisons if c.statistic == "median"]
    assert (judgement.factor, judgement.standing, judgement.value, judgement.reference_value) == (
        "calls",
        "slower",
        "in 3 calls",
        "in 1 call",
    )
    low, high = judgement.interval
    assert low < CALLS * 1.05
    assert high > CALLS * 0.95


@pytest.mark.parametrize("planned", CLEAN.values(), ids=CLEAN.keys())
def test_clean_tasks_fail_nothing_and_warn_of_nothing(planned):
    judgement = verdicts(a_run(task=CALLS, **planned))
    if planned.get("load", p.Load()).rate_per_s is not None:
        assert judgement.pop("Little's law") == "cannot tell"
    assert set(judgement.values()) <= {"pass", "not applicable"}, judgement


def two_calls_instead_of_three(draft):
    rows = draft.columns
    rows["received_ns"] = rows["sent_ns"] + (rows["received_ns"] - rows["sent_ns"]) * 2 // 3


def test_a_task_is_no_quicker_than_the_round_trips_of_all_its_calls():
    """Two of three round trips: far above one, which is all that a call would be held to."""
    run = a_run(spoil=two_calls_instead_of_three, task=CALLS, placements=[HERE, WEST])
    judgement = next(result for result in of(run, "floor") if result.cell and "west" in result.cell)
    assert judgement.verdict == "fail"
    assert judgement.evidence["bound_ms"] == pytest.approx(CALLS * 30, rel=0.05)
    assert judgement.evidence["quickest_ms"] > 1.5 * 30
    assert judgement.evidence["bound"].endswith(" of 3 calls")
    assert "the fastest task took" in explanation(judgement)


def test_round_trips_are_counted_for_each_call():
    (clean, *_) = (r for r in of(a_run(task=CALLS, placements=[HERE, WEST]), "round-trips") if r.verdict == "pass")
    assert clean.evidence["expected"] == [CALLS, CALLS]

    def one_missing(draft):
        if draft.cell.placement == WEST.id:
            draft.columns["received_ns"] -= 30 * MS

    assert verdicts(a_run(task=CALLS, placements=[HERE, WEST], spoil=one_missing))["round-trips"] == "fail"


def test_a_failed_call_of_a_task_is_not_missing_at_the_responder():
    def closed(draft):
        rows = draft.columns
        rows["status"][-5:] = STATUSES.index("closed")
        draft.done["verified"] -= 5
        draft.stats["answered"] -= 5

    assert verdicts(a_run(task=CALLS, spoil=closed))["completeness"] == "pass"
