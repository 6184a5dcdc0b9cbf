"""The benchmark of ten clients with a thousand events a second each: what it asks, and what misses its target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import streams
from orchestrator.experiment.plan.planning import make_plan

MET: dict[str, Any] = {
    "offered": 100,
    "sent": 100,
    "delivered": 100,
    "dropped": 0,
    "duplicated": 0,
    "reordered": 0,
    "late_p99": 4.9,
}


def test_it_asks_every_stack_that_carries_streams_for_a_thousand_a_second_to_ten_clients(tmp_path: Path):
    path = tmp_path / "experiment.yaml"
    path.write_text(streams.experiment(list(streams.STACKS)))
    plan = make_plan(path)
    assert {stack.protocol for stack in plan.stacks} == set(streams.STACKS)
    asked = {(cell.factors["per_second"], cell.load.concurrency, cell.load.duration_s) for cell in plan.cells}
    assert asked == {(1_000.0, 10, 10.0)}
    assert plan.repeats == 3


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({}, []),
        ({"delivered": 99, "dropped": 1}, ["1 dropped"]),
        ({"duplicated": 2, "reordered": 1}, ["2 duplicated", "1 reordered"]),
        ({"sent": 90, "delivered": 90, "dropped": 10}, ["10 dropped", "90 delivered, 90 of 100 sent"]),
        ({"late_p99": 5.0}, ["late by 5.0 ms at p99"]),
        ({"late_p99": None}, ["late by None ms at p99"]),
    ],
)
def test_a_stack_meets_it_with_every_event_in_its_order_and_in_time(changed: dict[str, Any], wrong: list[str]):
    assert streams.misses({**MET, **changed}) == wrong


def test_figures_are_those_of_the_answers_rows_and_a_cell_without_events_has_none():
    row = {**MET, **dict.fromkeys(("worst_late", "delivery_median", "delivery_p99", "gap_p99"), 1.0), "wrong": 0}
    (found,) = streams.figures({"table": [{"stack": "sse", "stream": row}, {"stack": "grpc", "stream": None}]})
    assert (found["stack"], found["offered"], found["late_p99"]) == ("sse", 100, 4.9)
