"""`tls` and `session` in a plan: which cells there are, what is refused and why, and what their names are."""

from __future__ import annotations

from pathlib import Path

from orchestrator.catalogue.read import protocols
from orchestrator.experiment.model.factors import knobs
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan

QUESTION = "name: x\nquestion: Why?\noperations: add\n"


def planned(folder: Path, text: str) -> Plan:
    path = folder / "x.yaml"
    path.write_text(QUESTION + text)
    return make_plan(path)


def test_only_cells_with_tls_say_so(tmp_path: Path) -> None:
    plan = planned(tmp_path, "stacks: [tcp, {protocol: grpc, tls: tls1.3}]\ntls: [none, tls1.3]\n")
    assert [cell.id for cell in plan.cells] == [
        "tcp-threads-socket__add__local__reuse__c1",
        "tcp-threads-socket__add__local__reuse__tls1.3__c1",
        "grpc-grpcio-grpcio__add__local__reuse__tls1.3__c1",
    ]
    assert [knobs(cell.factors) for cell in plan.cells] == [{}, {"tls": "tls1.3"}, {"tls": "tls1.3"}]
    assert [cell.handshakes for cell in plan.cells] == [0, 1, 1]


def test_every_protocol_has_tls_and_every_stream(tmp_path: Path) -> None:
    calling = (name for name in protocols() if name not in ("sse", "graphqlws"))
    plan = planned(tmp_path, f"stacks: [{', '.join(calling)}]\ntls: tls1.3\n")
    assert {cell.factors["tls"] for cell in plan.cells} == {"tls1.3"}
    (tmp_path / "x.yaml").write_text(
        "name: x\nquestion: Why?\noperations: {events: {per_second: 10/s, bytes: 10 B}}\n"
        "load: {concurrency: 1, duration: 1s}\nstacks: [sse, websocket, grpc, socketio, graphqlws]\ntls: tls1.3\n"
    )
    assert {cell.factors["tls"] for cell in make_plan(tmp_path / "x.yaml").cells} == {"tls1.3"}
