"""`calls`: what an experiment file says of tasks, and what becomes of it in the plan."""

from __future__ import annotations

import pytest

from orchestrator.experiment.plan.contrasts import compared, pairs
from orchestrator.experiment.plan.estimate import Costs, estimate
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL

ONE_OR_THREE = MINIMAL.replace("operations: timestamp", "operations: [{add: {calls: [1, 3]}}]")
COSTS_OF_CALLS = Costs(start_s=0, between_s=0, ping_s=0, report_s=0, floor_at_most_s=0)


def test_a_task_has_an_id_a_label_and_parts_of_its_own(write, known):
    plan = make_plan(write(ONE_OR_THREE), known=known)
    call, task = plan.operations
    assert (task.id, task.label, task.calls, task.asked) == ("add-3-calls", "add, 3 calls", 3, "add")
    assert (task.request_bytes, task.reply_bytes) == (call.request_bytes, call.reply_bytes), "one call's"
    of_tasks = [cell for cell in plan.cells if cell.kind == "task"]
    assert [cell.id.split("__")[1] for cell in of_tasks] == ["add-3-calls"] * 2
    assert {(cell.calls, cell.parts) for cell in of_tasks} == {(3, 3)}


def test_tasks_and_calls_are_compared_by_their_calls_and_by_nothing_else(write, known):
    plan = make_plan(write(ONE_OR_THREE + "compare_by: [calls, stack]\n"), known=known)
    found = [(pair.factor, pair.cell.kind, pair.reference.kind) for pair in pairs(plan)]
    assert sorted(found) == [
        ("calls", "task", "call"),
        ("calls", "task", "call"),
        ("stack", "call", "call"),
        ("stack", "task", "task"),
    ]
    by_calls = make_plan(write(ONE_OR_THREE + "compare_by: calls\nreference: 3 calls\n"), known=known)
    assert compared(by_calls) == "calls: 1 call against 3 calls (2 pairs of cells)"


def test_a_task_is_estimated_as_all_its_calls(write, known):
    quick = "warmup: {requests: 0, at_least: 0s}\nrepeats: 1\nload: {requests: 1000}\n"
    (one, three) = (
        estimate(
            make_plan(write(MINIMAL.replace("timestamp", f"[{{add: {{calls: {n}}}}}]") + quick), known=known),
            COSTS_OF_CALLS,
        )
        for n in (1, 3)
    )
    assert three.trials_s == pytest.approx(3 * one.trials_s, rel=1e-3)
    assert (one.requests, three.requests) == (2000, 2000), "tasks are what is asked for"
    row_bytes = 112 + 12
    assert three.disk_bytes - one.disk_bytes == 2000 * 3 * row_bytes
