"""`tls` and `session` in a plan: which cells there are, what is refused and why, and what their names are."""

from __future__ import annotations

from pathlib import Path

from orchestrator.catalogue.read import protocols
from orchestrator.cli.experiments.plan_text import plan_document, plan_lines
from orchestrator.experiment.model.factors import knobs
from orchestrator.experiment.plan.estimate import estimate
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


def test_the_plan_says_that_the_floor_has_no_tls_and_counts_a_round_trip_more(tmp_path: Path) -> None:
    opening = "stacks: tcp\nprovider: lab\nplacements: {name: far, rtt: 100ms}\nconnection: per-request\n"
    opening += "load: {concurrency: 1, requests: 100}\nwarmup: {requests: 100, at_least: 0s}\n"
    plain, secured = planned(tmp_path, opening), planned(tmp_path, opening + "tls: tls1.3\n")
    assert estimate(secured).trials_s > 1.3 * estimate(plain).trials_s
    said = {
        plan.id: "\n".join(plan_lines(plan, {**plan_document(plan, tmp_path), "terraform": None}))
        for plan in (plain, secured)
    }
    assert "without TLS" not in said[plain.id]
    assert "floor      a tcp exchange without TLS, also beside cells with it" in said[secured.id]
