"""Which independent load generators can ask a cell, and why none can."""

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


def asked(path: Path) -> set[tuple[tuple[str, ...], str]]:
    plan = make_plan(path)
    return {tools_for(plan, cell) for cell in plan.cells}


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        (REST, ("wrk", "oha")),
        (REST + "connection: per-request\n", ("oha",)),
        (HEAD + "stacks: [{protocol: rest, responder: starlette-granian}]\noperations: add\ntls: tls1.3\n", ("oha",)),
        (HEAD + "stacks: [connect]\noperations: add\n", ("wrk", "oha")),
        (GRPC, ("ghz",)),
    ],
)
def test_a_closed_loop_of_calls_can_be_asked(text: str, tools: tuple[str, ...], write: Write) -> None:
    assert asked(write(text)) == {(tools, "")}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (REST + "load: {rate: 50/s, duration: 1s}\n", "load is open"),
        (REST + "load: {concurrency: 2, requests: 100, think: 10ms}\n", "rest between requests"),
        (HEAD + "stacks: [rest]\noperations: [{add: {calls: 3}}]\n", "several calls as one"),
        (REST + "provider: lab\nplacements: [local]\n", "not on this machine alone"),
        (REST + "compression: gzip\n", "cannot be told `compression: gzip`"),
        (REST + "processes: 2\nload: {concurrency: 2, requests: 100}\n", "cannot be told `processes: 2`"),
        (GRPC + "connection: per-request\n", "ghz keeps its connections"),
        (HEAD + "stacks: [websocket]\noperations: add\n", "none of them speaks WebSocket"),
        (
            HEAD + 'services: {a: {url: "http://localhost:1"}}\nstacks: [{service: a, call: {http: GET /}}]\n',
            "your own service: only",
        ),
        (
            HEAD + "stacks: [{protocol: rest, responder: starlette-granian}]\noperations: add\nhttp: 2\n",
            "none of them speaks HTTP/2",
        ),
    ],
)
def test_what_they_cannot_ask_has_a_reason(text: str, reason: str, write: Write) -> None:
    ((tools, why),) = asked(write(text))
    assert tools == ()
    assert reason in why
