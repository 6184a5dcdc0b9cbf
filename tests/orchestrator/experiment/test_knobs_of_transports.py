"""Settings of connections as factors: what a file may say, what a plan refuses and where, and what both ends are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.experiment.model import factors
from orchestrator.experiment.model.factors import BY_NAME, DEFAULTS
from orchestrator.experiment.plan.cells import connections_of
from orchestrator.experiment.plan.plan import read_plan
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
    assert read_plan(json.loads(json.dumps(plan.to_dict()))) == plan


def test_more_connections_than_requests_in_flight_are_refused_with_the_place(tmp_path: Path):
    words = refused(tmp_path, "stacks: {protocol: grpc, connections: 9}\nload: {concurrency: 8, requests: 100}\n")
    assert "x.yaml:4:" in words
    assert "`connections: 9` is more than the 8 in flight: some would carry nothing" in words


def test_a_connection_per_request_shares_none(tmp_path: Path):
    text = "stacks: grpc\nconnections: 2\nconnection: per-request\nload: {concurrency: 8, requests: 100}\n"
    assert "`connection: per-request` opens one for each request" in refused(tmp_path, text)


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("connections: 1", "it sends one request at a time on a connection; pycurl-multi sends several over HTTP/2"),
        ("flow_window: 64 KiB", "it has no window beside TCP's own"),
        ("keepalive: 10s", "it has no pings that the library sends by itself"),
    ],
)
def test_what_a_stack_cannot_do_is_refused_with_the_reason(tmp_path: Path, key: str, reason: str):
    words = refused(tmp_path, f"stacks: rest\n{key}\n")
    assert "rest" in words
    assert f"cannot do {key.split(':')[0]}: " in words
    assert reason in words


def test_keep_alive_pings_need_kept_connections(tmp_path: Path):
    words = refused(tmp_path, "stacks: grpc\nconnection: per-request\nkeepalive: 10s\n")
    assert "`keepalive: 10 s` pings connections that are kept, and `connection: per-request` keeps none" in words


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (
            "flow_window: 65534 B",
            "must be from 65,535 B to 2,147,483,647 B (what HTTP/2 begins with, and the most that it has)",
        ),
        ("flow_window: 65536", "65536"),
        ("connections: 0", "must be from 1 to 10,000, or each; it is '0'"),
        ("connections: many", "'many' is neither each nor a whole number"),
        ("connections: true", "'true' is neither each nor a whole number"),
        ("keepalive: never", "'never' is not a duration: write it with its unit, like 60s, 45m, 2h or 500ms, or none"),
        ("keepalive: 10.5ms", "'10.5ms' is not a whole number of milliseconds, or none"),
        ("flow_window: auto", "write it with its unit, like 1.58 MB, 117 B or 64 KiB, or library"),
        ("flow_window: [64 KiB, 65536 B]", "item 2 of the list is given twice"),
        ("keepalive: 1ms", "must be from 10 ms to 1 h, or none"),
        ("keepalive: off", "off"),
    ],
)
def test_a_number_that_cannot_be_is_refused_with_the_place(tmp_path: Path, key: str, why: str):
    words = refused(tmp_path, f"stacks: grpc\n{key}\n")
    assert "x.yaml:5:" in words
    assert why in words


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


@pytest.mark.parametrize("key", ["congestion: bbr", "nodelay: nagle"])
def test_options_of_sockets_are_refused_where_no_connection_is_kept(tmp_path: Path, key: str):
    words = refused(tmp_path, f"stacks: rest\n{key}\nconnection: per-request\n")
    assert "x.yaml:4:" in words
    assert "is set on connections that are kept, and `connection: per-request` keeps none" in words


def test_a_congestion_control_that_nobody_knows_is_refused(tmp_path: Path):
    assert "'cubik' is not one of system, cubic, reno, bbr" in refused(tmp_path, "stacks: rest\ncongestion: cubik\n")


MULTI = "{protocol: json, responder: asgi-granian, client: pycurl-multi"


def test_requests_in_flight_share_connections_of_http_2_where_the_client_sends_several(tmp_path: Path):
    load = "load: {concurrency: 8, requests: 100}\n"
    plan = plan_of(tmp_path, f"stacks: {MULTI}, http: 2, connections: [1, each]}}\n{load}")
    assert [connections_of(cell.factors, cell.load.concurrency) for cell in plan.cells] == [1, 8]
    assert factors.knobs(plan.cells[0].factors) == {"http": "2", "connections": "1"}
    assert "`connections: 9` is more than the 8 in flight" in refused(
        tmp_path, f"stacks: {MULTI}, http: 2, connections: 9}}\n{load}"
    )


@pytest.mark.parametrize(
    ("stack", "reason"),
    [
        (f"{MULTI}}}", "json cannot do connections: 4: over HTTP/1.1 each of its connections carries one request"),
        (
            "{protocol: json, responder: asgi-granian, client: httpx, http: 2}",
            "json's client httpx cannot do connections: 4: it sends one request at a time on a connection",
        ),
        ("tcp", "tcp cannot do connections: 4: each of its connections carries one request at a time"),
    ],
)
def test_a_stack_that_cannot_share_connections_is_refused(tmp_path: Path, stack: str, reason: str):
    words = refused(tmp_path, f"stacks: {stack}\nconnections: 4\nload: {{concurrency: 8, requests: 100}}\n")
    assert "x.yaml:4:" in words
    assert reason in words
