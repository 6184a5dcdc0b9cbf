"""Which cells are beyond a default of common libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.plan.cells import beyond_defaults
from tests.support.experiments import planner

PLANNED = planner("name: x\nquestion: How?\n")


@pytest.mark.parametrize(
    ("text", "defaults"),
    [
        ("stacks: [rest, grpc]\noperations: {echo: {bytes: 4 MiB}}\n", {}),
        ("stacks: [rest, grpc]\noperations: {echo: {bytes: 4194305 B}}\n", {"messages of 4 MiB over gRPC": ["grpc"]}),
        (
            "stacks: [rest, websocket, socketio]\noperations: {transfer: {reply: 2 MB}}\n",
            {"messages of 1 MiB over WebSocket or Socket.IO": ["websocket", "socketio"]},
        ),
        (
            "stacks: [grpc]\noperations: add\nconnections: [1, 2, each]\nload: {concurrency: 101}\n",
            {"100 streams on a connection of HTTP/2": ["grpc"]},
        ),
    ],
)  # fmt: skip
def test_cells_beyond_a_default_of_libraries_are_known(
    tmp_path: Path, text: str, defaults: dict[str, list[str]]
) -> None:
    plan = PLANNED(tmp_path, text).to_dict()
    beyond = {what: [cell.partition("-")[0] for cell in cells] for what, cells in beyond_defaults(plan).items()}
    assert beyond == defaults
