"""`calls` and `mix`: from the file to the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.plan.contrasts import compared, pairs
from orchestrator.experiment.plan.estimate import Costs, estimate
from orchestrator.experiment.plan.payloads import mix_shares
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError
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


HEAD = "name: x\nquestion: Why?\nstacks: [rest, grpc]\noperations:\n"
TWO = "  - mix: {of: [{share: 80 %, timestamp: {}}, {share: 20 %, echo: {records: 200}}]}\n"


def planned(tmp_path: Path, text: str, head: str = HEAD):
    path = tmp_path / "x.yaml"
    path.write_text(head + text)
    return make_plan(path)


def test_a_mix_is_one_operation_with_its_parts(tmp_path: Path) -> None:
    plan = planned(tmp_path, TWO)
    (mix,) = plan.operations
    assert (mix.id, mix.label) == ("mix-80-timestamp-20-echo-200-records", "mix 80 % timestamp, 20 % echo 200 records")
    assert [(m.name, m.weight, m.payload) for m in mix.mix] == [
        ("timestamp", 4, {"kind": "none"}),
        ("echo", 1, {"kind": "records", "count": 200}),
    ]
    assert mix_shares(mix) == (0.8, 0.2)
    assert mix.request_bytes == round(0.8 * 32 + 0.2 * 18_000)
    assert {(cell.kind, cell.mixed, cell.recorded) for cell in plan.cells} == {("call", 2, "mix")}


def test_all_stacks_are_those_that_carry_one_of_them(tmp_path: Path) -> None:
    plan = planned(tmp_path, TWO, HEAD.replace("[rest, grpc]", "all"))
    assert {"rest", "grpc", "websocket", "graphql"} <= {stack.protocol for stack in plan.stacks}


OF_A_STORE = "  - mix: {of: [{share: 80 %, balance: {}}, {share: 20 %, payment: {}}]}\n"


def test_a_mix_is_answered_from_memory_and_by_one_worker_where_it_asks_for_rows(tmp_path: Path) -> None:
    assert planned(tmp_path, OF_A_STORE).cells
    with pytest.raises(ExperimentError, match="`store: sqlite`: mix uses no store"):
        planned(tmp_path, OF_A_STORE + "store: sqlite\n")
    with pytest.raises(ExperimentError, match="`workers: 4` with balance: each worker would have a store of its own"):
        planned(tmp_path, OF_A_STORE + "workers: 4\nload: {concurrency: 4, requests: 100}\npin: 'off'\n")
