"""Streams in an experiment: what may be asked of one, what it refuses, and the cells that come of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.estimate import estimate
from orchestrator.experiment.plan.loads import describe_load
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.reading import read_plan
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.measure.floors import floors
from orchestrator.results import sizes
from services.python.contract.streams import MOST_EVENTS

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
    assert read_plan(plan.to_dict()) == plan


def test_a_plan_whose_streams_are_called_calls_is_refused(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    first, *others = plan.cells
    for wrong, place in (
        (replace(first, kind="call"), "kind"),
        (replace(first, load=replace(first.load, duration_s=None)), "load.duration_s"),
    ):
        with pytest.raises(ValueError, match=rf"cells\.0\.{place}"):
            read_plan(replace(plan, cells=(wrong, *others)).to_dict())


def test_a_stream_lasts_ten_seconds_unless_said(tmp_path: Path) -> None:
    plan = planned(tmp_path, TEXT.replace(", duration: 4s", ""))
    assert {cell.load.duration_s for cell in plan.cells} == {10.0}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("duration: 4s", "requests: 100", "a stream has no `requests`"),
        ("duration: 4s", "rate: 100/s", "a stream has no `rate`"),
        ("duration: 4s", "duration: 4s, arrivals: uniform", "a stream has no `arrivals`"),
        ("bytes: 1 kB}", "bytes: 1 kB, load: {requests: 10}}", "a stream has no `requests`"),
        ("bytes: 1 kB}", "bytes: 1 kB, warmup: {requests: 10}}", "no number of requests"),
        ("stacks: [websocket, sse]", "stacks: [websocket, sse]\nconnection: per-request", "no connection: per-request"),
        ("stacks: [websocket, sse]", "stacks: [websocket, sse]\ncompression: gzip", "no compression: gzip"),
        ("stacks: [websocket, sse]", "stacks: [websocket, rest]", "rest does not carry 'events'"),
        ("stacks: [websocket, sse]", "stacks: [{protocol: grpc, client: grpcio}]", "awaiting clients"),
        ("per_second: [100/s, 500/s]", "per_second: 0/s", "per_second"),
    ],
)
def test_what_a_stream_does_not_have_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in refused(tmp_path, TEXT.replace(old, new))


def test_beside_calls_the_common_load_is_for_them(tmp_path: Path) -> None:
    text = (
        TEXT.replace("  - events", "  - add\n  - events")
        .replace("sse]", "grpc]")
        .replace("duration: 4s", "requests: 50")
    )
    plan = planned(tmp_path, text)
    kinds = {(cell.kind, cell.load.requests, cell.load.duration_s) for cell in plan.cells}
    assert kinds == {("call", 50, None), ("stream", None, 10.0)}
    clients = {(cell.kind, cell.load.concurrency, cell.stack) for cell in plan.cells if cell.stack.startswith("grpc")}
    assert ("call", 1, "grpc-grpcio-grpcio") in clients
    assert {stack for kind, _, stack in clients if kind == "stream"} == {"grpc-grpcio-grpc-aio"}


def test_streams_are_compared_by_their_rate_and_never_with_calls(tmp_path: Path) -> None:
    by_rate = planned(tmp_path, TEXT + "compare_by: per_second\nreference: 100/s\n")
    found = [(pair.cell.factors["per_second"], pair.reference.factors["per_second"]) for pair in pairs(by_rate)]
    assert found == [(500.0, 100.0)] * 4
    text = TEXT.replace("  - events", "  - add\n  - events").replace("sse]", "grpc]")
    mixed = planned(tmp_path, text.replace("duration: 4s", "requests: 50") + "compare_by: [stack, per_second]\n")
    kinds = {(pair.cell.kind, pair.reference.kind) for pair in pairs(mixed)}
    assert kinds == {("call", "call"), ("stream", "stream")}


def test_a_stream_has_no_floor_and_its_schedule_says_how_many_rows_it_has(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    assert floors(plan.cells, {cell.exchange: (50, 1100) for cell in plan.cells}) == []
    expected = estimate(plan)
    events = sum(rate * (4 + 1) * clients for rate in (100, 500) for clients in (1, 5)) * 2
    assert events * plan.repeats <= expected.requests <= events * plan.repeats * 1.01
    (least, most) = (
        min(plan.cells, key=lambda c: c.load.concurrency),
        max(plan.cells, key=lambda c: c.load.concurrency),
    )
    assert sizes._rows_of(least) < sizes._rows_of(most)


def test_all_stacks_are_those_that_carry_an_operation(tmp_path: Path) -> None:
    plan = planned(tmp_path, TEXT.replace("stacks: [websocket, sse]", "stacks: all"))
    assert {stack.protocol for stack in plan.stacks} == {"grpc", "sse", "websocket"}


def test_the_shipped_experiment_plans() -> None:
    plan = make_plan(Path(__file__).parents[3] / "experiments" / "streams.yaml")
    assert {cell.kind for cell in plan.cells} == {"stream"}
    assert len(plan.cells) == 3 * 3 * 3


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


def test_more_events_than_a_trial_records_are_refused(tmp_path: Path) -> None:
    told = refused(tmp_path, TEXT.replace("500/s", "100000/s"))
    assert "2,500,000 events to the clients of one requester in a trial" in told


def test_a_samples_file_holds_no_more_than_twice_the_events_that_are_due(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    cell = plan.cells[-1]  # five clients, 500 a second, for 4 s and 1 s before
    assert sizes._rows_of(cell) == 2 * 5 * 500 * (4 + 1) + 4 * 5
    vast = replace(cell, load=replace(cell.load, duration_s=1_000_000.0))
    assert sizes._rows_of(vast) == 2 * MOST_EVENTS + 4 * 5
