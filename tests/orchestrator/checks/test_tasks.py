"""A task is a sample, its calls are its parts: statistics, comparison by `calls`, report, terminal and JSON."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.evidence.run_evidence import COLUMNS, Samples, parts_of
from orchestrator.experiment.plan.plan import Contrast
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings.summary import RunSummary
from orchestrator.summarise import summarise
from services.python.contract.lines import STATUSES
from tests.support.runs import a_plan, a_run

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
    assert samples.sequences.tolist() == list(range(1, 1051))
    took = parts_of(columns)
    assert [(place, of.size) for place, of in took.items()] == [(1, 1000), (2, 1000), (3, 1000)]
    assert (sum(took.values()) <= samples.call_ns).all(), "one task at a time: both are in the order of sending"


def test_parts_that_failed_or_were_warm_up_are_in_no_median():
    def failing(draft):
        draft.columns["status"][-100:] = STATUSES.index("timeout")

    (cell, _) = summarise(a_run(task=CALLS, spoil=failing)).cells
    assert [(part.name, part.n) for part in cell.parts] == [("call 1", 5000), ("call 2", 5000), ("call 3", 4500)]


def test_three_calls_are_compared_with_one():
    run = one_or_three(stacks=("grpc",))
    (found,) = [c for c in run.comparisons if c.statistic == "median"]
    assert (found.factor, found.standing, found.value, found.reference_value) == (
        "calls",
        "slower",
        "in 3 calls",
        "in 1 call",
    )
    low, high = found.interval
    assert low < CALLS * 1.05
    assert high > CALLS * 0.95
