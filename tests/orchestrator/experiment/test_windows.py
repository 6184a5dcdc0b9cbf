"""Windows as factors of HTTP/2, gRPC and TCP: what may be asked, what a plan refuses and where, and what it reckons with."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.model import factors
from orchestrator.experiment.model.factors import DEFAULTS
from orchestrator.experiment.plan.cells import rounds_beyond_first, window_of
from orchestrator.experiment.read.problems import ExperimentError
from tests.support.experiments import planner

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
