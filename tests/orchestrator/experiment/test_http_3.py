"""`http: 3` and windows in a plan: what is needed and refused, and what is reckoned with."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.evidence.run_evidence import round_trips_to_open
from orchestrator.experiment.model import factors
from orchestrator.experiment.model.factors import DEFAULTS, knobs
from orchestrator.experiment.plan.cells import rounds_beyond_first, window_of
from orchestrator.experiment.plan.contrasts import in_use
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.hosts.plan_warnings import congestion_in_force
from tests.support.experiments import planner

QUESTION = "name: x\nquestion: Why?\noperations: add\n"
GO = "{protocol: rest, responder: go-net-http, client: go-net-http}"

planned = planner(QUESTION, needs_programs=False)


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
        in_use(plan, stack.id, "per-request", ("add",), None, cell.factors["http"])["transport"] for cell in plan.cells
    ]
    assert ways == ["HTTP/1.1", "HTTP/2", "HTTP/3"]


def test_a_plan_without_tcp_says_nothing_of_its_congestion_control(tmp_path: Path) -> None:
    settings = tmp_path / "sys/net/ipv4"
    settings.mkdir(parents=True)
    (settings / "tcp_congestion_control").write_text("bbr\n")
    told = [
        congestion_in_force(planned(tmp_path, f"stacks: {GO}\nhttp: {http}\ntls: tls1.3\n"), tmp_path)
        for http in ("3", "[2, 3]")
    ]
    assert told[0] == ""
    assert "bbr" in told[1]


KIB = 1024
GRANIAN = "{protocol: http+protobuf, responder: asgi-granian, http: 2, flow_window: 64 KiB}"
HEAD = "name: x\nquestion: Why?\nprovider: lab\nmachine: lab\nplacements: {name: far, rtt: 30ms}\n"
UPLOAD = "operations:\n  - transfer: {request: 1 MiB, reply: 32 B}\n"
FEW = "load: {requests: 10}\nwarmup: {requests: 0, at_least: 0s}\nrepeats: 1\n"

plan_of = planner(HEAD, FEW)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(ExperimentError) as error:
        plan_of(folder, text)
    assert error.value.exit_code == 2
    return str(error.value)


@pytest.mark.parametrize(
    ("stack", "told"),
    [
        (GRANIAN, {"http": "2", "flow_window": "65536"}),
        ("{protocol: grpc, flow_window: 65535 B}", {"flow_window": "65535"}),
        ("{protocol: tcp, tcp_window: 64 KiB}", {"tcp_window": "65536"}),
        ("{protocol: websocket, tcp_window: 8 KiB}", {"tcp_window": "8192"}),
    ],
)
def test_both_ends_are_told_of_a_window(tmp_path: Path, stack: str, told: dict[str, str]):
    (cell,) = plan_of(tmp_path, f"stacks: {stack}\n{UPLOAD}").cells
    assert factors.knobs(cell.factors) == told


def test_a_reply_that_a_clients_own_window_would_let_through_is_refused(tmp_path: Path):
    download = "operations:\n  - transfer: {request: 32 B, reply: 1 MiB}\n"
    words = refused(tmp_path, f"stacks:\n  - {GRANIAN}\n{download}")
    assert "x.yaml:7:" in words
    assert "libcurl cannot be told how large a window it gives to replies" in words
    assert "would not hold back a reply of 1,048,576 B" in words
    for stack in ("{protocol: grpc, flow_window: 64 KiB}", "{protocol: http+protobuf, tcp_window: 64 KiB}"):
        assert plan_of(tmp_path, f"stacks: {stack}\n{download}").cells


def test_a_body_takes_a_round_trip_for_each_window_of_it():
    small = {**DEFAULTS, "flow_window": 64 * KIB, "tcp_window": 256 * KIB}
    assert window_of(small) == 64 * KIB
    assert window_of(DEFAULTS) is None
    assert [rounds_beyond_first(small, size * KIB) for size in (0, 1, 64, 65, 128, 1024)] == [0, 0, 0, 1, 1, 15]
    assert rounds_beyond_first(DEFAULTS, 1024 * KIB) == 0
