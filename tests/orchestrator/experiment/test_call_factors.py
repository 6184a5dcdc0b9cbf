"""Settings of the call as factors: the ids of their cells, and what both ends are sent of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.model.factors import knobs
from orchestrator.experiment.plan.cells import connections_of, processes_of, workers_of, workers_told
from services.python.contract.knobs import allows
from tests.support.experiments import planner

EIGHT = "load: {concurrency: 8, requests: 100}\n"

plan_of = planner("name: x\nquestion: Why?\noperations: add\n")


@pytest.mark.parametrize(
    ("text", "ids", "sent"),
    [
        (
            f"stacks: grpc\nconnections: [each, 1, 4]\n{EIGHT}",
            ["reuse__c8", "reuse__connections-1__c8", "reuse__connections-4__c8"],
            [{}, {"connections": "1"}, {"connections": "4"}],
        ),
        (
            f"stacks: rest\nprocesses: [1, 2, 8]\n{EIGHT}",
            ["reuse__c8", "reuse__processes-2__c8", "reuse__processes-8__c8"],
            [{}, {}, {}],
        ),
        (f"stacks: rest\nworkers: [1, 4]\n{EIGHT}", ["reuse__c8", "reuse__workers-4__c8"], [{}, {"workers": "4"}]),
        (
            f"stacks: rest\nrequesters: [1, 2]\nprovider: lab\nplacements: cross-region\n{EIGHT}",
            ["reuse__c8", "reuse__requesters-2__c8"],
            [{}, {}],
        ),
        (
            "stacks: [tcp, {protocol: grpc, tls: tls1.3}]\ntls: [none, tls1.3]\n",
            ["reuse__c1", "reuse__tls1.3__c1", "reuse__tls1.3__c1"],
            [{}, {"tls": "tls1.3"}, {"tls": "tls1.3"}],
        ),
    ],
)
def test_each_value_of_a_list_is_a_cell_and_a_default_is_not_named(
    tmp_path: Path, text: str, ids: list[str], sent: list[dict[str, str]]
) -> None:
    cells = plan_of(tmp_path, text).cells
    assert [cell.id.split("__", 3)[3] for cell in cells] == ids
    assert [knobs(cell.factors) for cell in cells] == sent
    assert [cell.handshakes for cell in cells] == [int("tls1.3" in name) for name in ids]
    for cell in cells:
        assert connections_of(cell.factors, 8) == (
            8 if cell.factors["connections"] == "each" else cell.factors["connections"]
        )
        assert processes_of(cell.factors) == cell.factors["processes"]
        assert workers_told(knobs(cell.factors)) == workers_of(cell.factors) == cell.factors["workers"]


@pytest.mark.parametrize(
    ("value", "is_allowed"),
    [("each", True), ("1", True), ("64", True), ("65", False), ("0", False), ("x", False), ("-1", False)],
)
def test_an_end_allows_the_texts_and_ranges_of_its_knob(value: str, is_allowed: bool) -> None:
    assert allows(("each", "1..64"), value) is is_allowed
