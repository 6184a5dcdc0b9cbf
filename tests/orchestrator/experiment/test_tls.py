"""`tls` and `session` in a plan: which cells there are, what is refused and why, and what their names are."""

from __future__ import annotations

from pathlib import Path

from orchestrator.experiment.model.factors import knobs
from tests.support.experiments import planner

QUESTION = "name: x\nquestion: Why?\noperations: add\n"

planned = planner(QUESTION)


def test_only_cells_with_tls_say_so(tmp_path: Path) -> None:
    plan = planned(tmp_path, "stacks: [tcp, {protocol: grpc, tls: tls1.3}]\ntls: [none, tls1.3]\n")
    assert [cell.id for cell in plan.cells] == [
        "tcp-threads-socket__add__local__reuse__c1",
        "tcp-threads-socket__add__local__reuse__tls1.3__c1",
        "grpc-grpcio-grpcio__add__local__reuse__tls1.3__c1",
    ]
    assert [knobs(cell.factors) for cell in plan.cells] == [{}, {"tls": "tls1.3"}, {"tls": "tls1.3"}]
    assert [cell.handshakes for cell in plan.cells] == [0, 1, 1]
