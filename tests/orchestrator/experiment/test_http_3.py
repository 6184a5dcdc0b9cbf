"""`http: 3` and windows in a plan: what is needed and refused, and what is reckoned with."""

from __future__ import annotations

from pathlib import Path

from orchestrator.evidence.run_evidence import round_trips_to_open
from orchestrator.experiment.model.factors import DEFAULTS, knobs
from orchestrator.experiment.plan.cells import rounds_beyond_first, window_of
from orchestrator.experiment.plan.parts import in_use
from tests.support.experiments import planner

QUESTION = "name: x\nquestion: Why?\noperations: add\n"
GO = "{protocol: rest, responder: go-net-http, client: go-net-http}"

planned = planner(QUESTION)


def test_its_handshake_has_that_of_tls_in_it_and_its_transport_is_named(tmp_path: Path) -> None:
    plan = planned(tmp_path, f"stacks: {GO}\nhttp: [1.1, 2, 3]\ntls: tls1.3\nconnection: per-request\n")
    [stack] = plan.stacks
    assert [cell.id.split("__")[3:] for cell in plan.cells] == [
        ["per-request", "tls1.3", "c1"],
        ["per-request", "http2", "tls1.3", "c1"],
        ["per-request", "http3", "tls1.3", "c1"],
    ]
    assert knobs(plan.cells[2].factors) == {"http": "3", "tls": "tls1.3"}
    assert [round_trips_to_open(stack) + cell.handshakes for cell in plan.cells] == [2, 2, 1]
    assert all(cell.is_secured for cell in plan.cells)
    ways = [
        in_use(plan, stack.id, "per-request", "add", None, cell.factors["http"])["transport"] for cell in plan.cells
    ]
    assert ways == ["HTTP/1.1", "HTTP/2", "HTTP/3"]


KIB = 1024


def test_a_body_takes_a_round_trip_for_each_window_of_it():
    small = {**DEFAULTS, "flow_window": 64 * KIB, "tcp_window": 256 * KIB}
    assert window_of(small) == 64 * KIB
    assert window_of(DEFAULTS) is None
    assert [rounds_beyond_first(small, size * KIB) for size in (0, 1, 64, 65, 128, 1024)] == [0, 0, 0, 1, 1, 15]
    assert rounds_beyond_first(DEFAULTS, 1024 * KIB) == 0
