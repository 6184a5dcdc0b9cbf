"""Settings of connections as factors: what a file may say, what a plan refuses and where, and what both ends are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.model import factors
from orchestrator.experiment.plan.cells import connections_of
from services.python.contract.knobs import allows
from tests.support.experiments import planner

HEAD = "name: x\nquestion: Why?\noperations: add\n"

plan_of = planner(HEAD)


def test_fewer_connections_than_requests_in_flight_are_cells_of_their_own(tmp_path: Path):
    plan = plan_of(tmp_path, "stacks: grpc\nconnections: [each, 1, 4]\nload: {concurrency: 8, requests: 100}\n")
    assert [cell.id.split("__")[3:] for cell in plan.cells] == [
        ["reuse", "c8"],
        ["reuse", "connections-1", "c8"],
        ["reuse", "connections-4", "c8"],
    ]
    assert [factors.knobs(cell.factors) for cell in plan.cells] == [{}, {"connections": "1"}, {"connections": "4"}]
    assert [connections_of(cell.factors, cell.load.concurrency) for cell in plan.cells] == [8, 1, 4]


@pytest.mark.parametrize(
    ("value", "is_allowed"),
    [("each", True), ("1", True), ("64", True), ("65", False), ("0", False), ("x", False), ("-1", False)],
)
def test_an_end_allows_the_texts_and_ranges_of_its_knob(value: str, is_allowed: bool):
    assert allows(("each", "1..64"), value) is is_allowed
