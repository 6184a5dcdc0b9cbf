"""Which independent load generators can measure a cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.measure.refereeing import tools_for

Write = Callable[[str], Path]

HEAD = "name: x\nquestion: Which?\n"
REST = HEAD + "stacks: [rest]\noperations: add\n"
GRPC = HEAD + "stacks: [grpc]\noperations: add\n"


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        (REST, ("wrk", "oha")),
        (REST + "connection: per-request\n", ("oha",)),
        (HEAD + "stacks: [{protocol: rest, responder: starlette-granian}]\noperations: add\ntls: tls1.3\n", ("oha",)),
        (HEAD + "stacks: [connect]\noperations: add\n", ("wrk", "oha")),
        (GRPC, ("ghz",)),
        (REST + "load: {rate: 50/s, duration: 1s}\n", ()),
        (HEAD + "stacks: [rest]\noperations: [{add: {calls: 3}}]\n", ()),
        (REST + "compression: gzip\n", ()),
        (HEAD + "stacks: [websocket]\noperations: add\n", ()),
        (HEAD + 'services: {a: {url: "http://localhost:1"}}\nstacks: [{service: a, call: {http: GET /}}]\n', ()),
        (HEAD + "stacks: [{protocol: rest, responder: starlette-granian}]\noperations: add\nhttp: 2\n", ()),
    ],
)
def test_closed_loops_of_single_calls_have_load_generators(text: str, tools: tuple[str, ...], write: Write) -> None:
    plan = make_plan(write(text))
    assert {tools_for(plan, cell) for cell in plan.cells} == {tools}
