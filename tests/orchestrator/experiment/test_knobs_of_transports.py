"""Settings of connections as factors: what a file may say, what a plan refuses and where, and what both ends are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.model import factors
from orchestrator.experiment.model.factors import BY_NAME, DEFAULTS
from orchestrator.experiment.plan.cells import connections_of
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError
from services.python.contract.knobs import allows

HEAD = "name: x\nquestion: Why?\noperations: add\n"


def plan_of(tmp_path: Path, text: str):
    path = tmp_path / "x.yaml"
    path.write_text(HEAD + text)
    return make_plan(path)


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(ExperimentError) as error:
        plan_of(tmp_path, text)
    assert error.value.exit_code == 2
    return str(error.value)


def test_fewer_connections_than_requests_in_flight_are_cells_of_their_own(tmp_path: Path):
    plan = plan_of(tmp_path, "stacks: grpc\nconnections: [each, 1, 4]\nload: {concurrency: 8, requests: 100}\n")
    assert [cell.id.split("__")[3:] for cell in plan.cells] == [
        ["reuse", "c8"],
        ["reuse", "connections-1", "c8"],
        ["reuse", "connections-4", "c8"],
    ]
    assert [factors.knobs(cell.factors) for cell in plan.cells] == [{}, {"connections": "1"}, {"connections": "4"}]
    assert [connections_of(cell.factors, cell.load.concurrency) for cell in plan.cells] == [8, 1, 4]


def test_sizes_and_times_are_written_with_their_units_and_told_without(tmp_path: Path):
    (cell,) = plan_of(tmp_path, "stacks: grpc\nflow_window: 64 KiB\nkeepalive: 10s\n").cells
    assert factors.knobs(cell.factors) == {"flow_window": "65536", "keepalive": "10000"}
    assert factors.phrases(cell.factors)[1:] == ("HTTP/2 windows of 64 KiB", "a keep-alive ping every 10 s")


def test_cells_are_compared_by_them(tmp_path: Path):
    text = "stacks: grpc\nconnections: [1, each]\ncompare_by: connections\nload: {concurrency: 8, requests: 100}\n"
    plan = plan_of(tmp_path, text)
    assert plan.contrasts[0].factor == "connections"
    assert BY_NAME["connections"].compared(1) == "with one connection for all requests in flight"


def test_what_is_said_and_known_of_a_number():
    factor = BY_NAME["connections"]
    assert [factor.takes(value) for value in ("each", 1, 10_000, 0, 10_001, "1", True, None)] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert factors.short({**DEFAULTS, "connections": 3}) == ("reuse", "connections-3")


@pytest.mark.parametrize(
    ("value", "is_allowed"),
    [("each", True), ("1", True), ("64", True), ("65", False), ("0", False), ("x", False), ("-1", False)],
)
def test_an_end_allows_the_texts_and_ranges_of_its_knob(value: str, is_allowed: bool):
    assert allows(("each", "1..64"), value) is is_allowed


def test_options_of_sockets_are_for_every_stack_that_keeps_its_connections(tmp_path: Path):
    plan = plan_of(tmp_path, "stacks: [rest, grpc]\ncongestion: [system, cubic, bbr]\nnodelay: nagle\n")
    assert [factors.knobs(cell.factors) for cell in plan.cells[:3]] == [
        {"nodelay": "nagle"},
        {"congestion": "cubic", "nodelay": "nagle"},
        {"congestion": "bbr", "nodelay": "nagle"},
    ]


MULTI = "{protocol: json, responder: asgi-granian, client: pycurl-multi"


def test_requests_in_flight_share_connections_of_http_2_where_the_client_sends_several(tmp_path: Path):
    load = "load: {concurrency: 8, requests: 100}\n"
    plan = plan_of(tmp_path, f"stacks: {MULTI}, http: 2, connections: [1, each]}}\n{load}")
    assert [connections_of(cell.factors, cell.load.concurrency) for cell in plan.cells] == [1, 8]
    assert factors.knobs(plan.cells[0].factors) == {"http": "2", "connections": "1"}
    assert "`connections: 9` is more than the 8 in flight" in refused(
        tmp_path, f"stacks: {MULTI}, http: 2, connections: 9}}\n{load}"
    )
