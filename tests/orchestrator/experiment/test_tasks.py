"""`calls`: what an experiment file says of tasks, and what becomes of it in the plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli.experiments.plan_text import plan_document, plan_lines
from orchestrator.experiment.plan.contrasts import compared, pairs
from orchestrator.experiment.plan.estimate import Costs, costs_from, estimate
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL

EXPERIMENTS = Path(__file__).parents[3] / "experiments"
ONE_OR_THREE = MINIMAL.replace("operations: timestamp", "operations: [{add: {calls: [1, 3]}}]")
COSTS_OF_CALLS = Costs(start_s=0, between_s=0, ping_s=0, report_s=0, floor_at_most_s=0)


def test_a_plain_call_is_what_it_was(write, known):
    """Whether it is written or not: an id names samples that people keep."""
    said = make_plan(write(MINIMAL.replace("operations: timestamp", "operations: [{add: {calls: 1}}]")), known=known)
    unsaid = make_plan(write(MINIMAL.replace("timestamp", "add")), known=known)
    assert said.cells == unsaid.cells
    assert {(cell.kind, cell.calls, cell.parts, cell.operation) for cell in said.cells} == {("call", 1, None, "add")}


def test_a_task_has_an_id_a_label_and_parts_of_its_own(write, known):
    plan = make_plan(write(ONE_OR_THREE), known=known)
    call, task = plan.operations
    assert (task.id, task.label, task.calls, task.asked) == ("add-3-calls", "add, 3 calls", 3, "add")
    assert (task.request_bytes, task.reply_bytes) == (call.request_bytes, call.reply_bytes), "one call's"
    of_tasks = [cell for cell in plan.cells if cell.kind == "task"]
    assert [cell.id.split("__")[1] for cell in of_tasks] == ["add-3-calls"] * 2
    assert {(cell.calls, cell.parts) for cell in of_tasks} == {(3, 3)}


def test_every_operation_that_is_a_call_takes_calls(write, known):
    text = MINIMAL.replace("stacks: [rest, grpc]", "stacks: rest").replace(
        "operations: timestamp",
        "operations: [{timestamp: {calls: 2}}, {add: {calls: 2}}, {echo: {bytes: [100 B, 1 kB], calls: [1, 2]}},"
        " {image: {bytes: 10 kB, calls: [1, 2]}}]",
    )
    plan = make_plan(write(text), known=known)
    assert [operation.id for operation in plan.operations] == [
        "timestamp-2-calls",
        "add-2-calls",
        "echo-100b",
        "echo-100b-2-calls",
        "echo-1kb",
        "echo-1kb-2-calls",
        "image-10kb",
        "image-10kb-2-calls",
    ]
    assert [file.operation for file in plan.payload_files] == ["image-10kb", "image-10kb-2-calls"]


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


def test_payloads_are_not_mixed_where_calls_are_compared(write, known):
    text = MINIMAL.replace("timestamp", "[{echo: {bytes: [100 B, 1 kB], calls: [1, 3]}}]")
    plan = make_plan(write(text + "compare_by: calls\n"), known=known)
    assert len(list(pairs(plan))) == 4
    assert all(pair.cell.factors["bytes"] == pair.reference.factors["bytes"] for pair in pairs(plan))


def test_another_kind_of_work_is_compared_with_neither(write, known):
    plan = make_plan(write(ONE_OR_THREE + "compare_by: [calls, stack]\n"), known=known)
    others = tuple(replace(cell, kind="codec") if cell.stack.startswith("rest") else cell for cell in plan.cells)
    found = [(pair.cell.kind, pair.reference.kind) for pair in pairs(replace(plan, cells=others))]
    assert found
    assert all(("codec" in pair) == (set(pair) == {"codec"}) for pair in found)


def test_calls_can_be_left_out_by_exclude(write, known):
    plan = make_plan(write(ONE_OR_THREE + "exclude: [{protocol: grpc, calls: 3}]\n"), known=known)
    found = {(cell.factors["protocol"], cell.calls) for cell in plan.cells}
    assert found == {("rest", 1), ("rest", 3), ("grpc", 1)}


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


def test_a_task_of_an_earlier_run_is_no_measure_of_a_request():
    cell = {"id": "a", "stack": "rest", "throughput_per_s": 100.0, "body_bytes": [1, 1]}
    made = {"concurrency": 1, "connection": "reuse", "compression": "none"}
    plan = {"provider": "local", "cells": []}
    found = [
        costs_from([{"plan": plan, "cells": [{**cell, "factors": {**made, **calls}}]}]).request_s
        for calls in ({"calls": 3}, {"calls": 1}, {})
    ]
    assert [bool(costs) for costs in found] == [False, True, True]


def test_the_plan_says_what_is_a_task(write, known):
    path = write(ONE_OR_THREE + "compare_by: calls\n")
    plan = make_plan(path, known=known)
    document = plan_document(plan, path) | {"terraform": None}
    text = "\n".join(plan_lines(plan, document))
    assert "add, 3 calls" in text
    assert "calls: 3 calls against 1 call (2 pairs of cells)" in text


def test_chatty_asks_whether_three_calls_or_one():
    plan = make_plan(EXPERIMENTS / "three_calls_or_one.yaml")
    assert [(pair.cell.calls, pair.reference.calls) for pair in pairs(plan)] == [(3, 1), (3, 1)]
    assert {cell.factors["protocol"] for cell in plan.cells} == {"rest", "grpc"}
