"""Streams in an experiment: what may be asked of one, what it refuses, and the cells that come of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.estimate import estimate
from orchestrator.experiment.plan.loads import describe_load
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.measure.target import Ask, Deadline
from services.python.contract.lines import Payload

TEXT = """
name: streams
question: Which is quicker?
stacks: [websocket, sse]
operations:
  - events: {per_second: [100/s, 500/s], bytes: 1 kB}
load: {concurrency: [1, 5], duration: 4s}
warmup: {at_least: 1s}
"""


def planned(folder: Path, text: str = TEXT) -> Plan:
    path = folder / "experiment.yaml"
    path.write_text(text)
    return make_plan(path)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(ExperimentError) as caught:
        planned(folder, text)
    return str(caught.value)


def test_cells_of_events_are_streams_with_clients_for_a_time(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    assert len(plan.cells) == 2 * 2 * 2
    cell = plan.cells[-1]
    assert cell.id == "sse-uvicorn-aiohttp__events-500-per-s-1kb__local__reuse__c5"
    assert (cell.kind, cell.load.concurrency, cell.load.duration_s, cell.load.requests) == ("stream", 5, 4.0, None)
    assert (cell.warmup.requests, cell.warmup.at_least_s) == (0, 1.0)
    assert (cell.factors["per_second"], cell.factors["bytes"]) == (500.0, 1000)
    assert describe_load(cell.load, cell.kind) == "4 s, 5 clients"


def test_streams_are_compared_by_their_rate_and_never_with_calls(tmp_path: Path) -> None:
    by_rate = planned(tmp_path, TEXT + "compare_by: per_second\nreference: 100/s\n")
    found = [(pair.cell.factors["per_second"], pair.reference.factors["per_second"]) for pair in pairs(by_rate)]
    assert found == [(500.0, 100.0)] * 4
    text = TEXT.replace("  - events", "  - add\n  - events").replace("sse]", "grpc]")
    mixed = planned(tmp_path, text.replace("duration: 4s", "requests: 50") + "compare_by: [stack, per_second]\n")
    kinds = {(pair.cell.kind, pair.reference.kind) for pair in pairs(mixed)}
    assert kinds == {("call", "call"), ("stream", "stream")}


def test_how_fast_clients_read_is_a_factor_of_a_stream_and_of_nothing_else(tmp_path: Path) -> None:
    slow = TEXT + "read_rate: [unlimited, 200/s]\ncompare_by: read_rate\nreference: unlimited\n"
    plan = planned(tmp_path, slow)
    assert len(plan.cells) == 2 * 2 * 2 * 2
    usual = {cell.id for cell in planned(tmp_path).cells}
    assert {cell.id for cell in plan.cells if "read_rate" not in cell.id} == usual
    assert {pair.cell.factors["read_rate"] for pair in pairs(plan)} == {200}


def test_a_trial_of_slow_readers_is_given_the_time_that_they_take(tmp_path: Path) -> None:
    text = TEXT.replace("[100/s, 500/s]", "500/s").replace("[1, 5]", "1").replace("[websocket, sse]", "sse")
    usual, slow = (planned(tmp_path, text + more) for more in ("", "read_rate: 100/s\n"))
    one, other = estimate(usual).trials_s, estimate(slow).trials_s
    assert other - one >= usual.repeats * 4 * (500 / 100 - 1)
    payload, load = Payload(kind="events", size=9, per_second=500.0), slow.cells[0].load
    asked = {"protocol": "sse", "responder": "uvicorn", "client": "aiohttp", "operation": "events", "kind": "stream"}
    patient, other_one = (
        Deadline(ask=Ask(**asked, payload=payload, load=load, knobs=knobs), ready_s=1.0, stage="measure").at_most_s
        for knobs in ({"read_rate": "100"}, {})
    )
    assert patient is not None
    assert other_one is not None
    assert patient - other_one == 4 * (500 / 100 - 1)


def test_more_clients_than_a_responder_serves_at_once_are_refused(tmp_path: Path) -> None:
    text = TEXT.replace("[websocket, sse]", "[{protocol: grpc, responder: [grpcio, grpc-aio]}]")
    told = refused(tmp_path, text.replace("concurrency: [1, 5]", "concurrency: [32, 40]"))
    assert "grpc's responder grpcio serves at most 32 streams at once, and would leave 8 of 40 clients waiting" in told
    assert "grpc-aio serves" not in told
    left_out = "exclude: [{responder: grpcio, concurrency: 40}]\n"
    plan = planned(tmp_path, text.replace("concurrency: [1, 5]", "concurrency: [32, 40]") + left_out)
    assert {(cell.stack, cell.load.concurrency) for cell in plan.cells} == {
        ("grpc-grpcio-grpc-aio", 32),
        ("grpc-grpc-aio-grpc-aio", 32),
        ("grpc-grpc-aio-grpc-aio", 40),
    }
