"""`mix`: several operations in one load, from the file to the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.plan.payloads import mix_shares
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.read.problems import ExperimentError

HEAD = "name: x\nquestion: Why?\nstacks: [rest, grpc]\noperations:\n"
TWO = "  - mix: {of: [{share: 80 %, timestamp: {}}, {share: 20 %, echo: {records: 200}}]}\n"


def planned(tmp_path: Path, text: str, head: str = HEAD):
    path = tmp_path / "x.yaml"
    path.write_text(head + text)
    return make_plan(path)


def test_a_mix_is_one_operation_with_its_parts(tmp_path: Path) -> None:
    plan = planned(tmp_path, TWO)
    (mix,) = plan.operations
    assert (mix.id, mix.label) == (
        "mix-80-timestamp-20-echo-200-records",
        "mix 80 % timestamp, 20 % echo 200 records",
    )
    assert [(m.name, m.weight, m.payload) for m in mix.mix] == [
        ("timestamp", 4, {"kind": "none"}),
        ("echo", 1, {"kind": "records", "count": 200}),
    ]
    assert mix_shares(mix) == (0.8, 0.2)
    assert mix.request_bytes == round(0.8 * 32 + 0.2 * 18_000)
    assert {(cell.kind, cell.mixed, cell.recorded) for cell in plan.cells} == {("call", 2, "mix")}


def test_all_stacks_are_those_that_carry_one_of_them(tmp_path: Path) -> None:
    plan = planned(tmp_path, TWO, HEAD.replace("[rest, grpc]", "all"))
    assert {"rest", "grpc", "websocket", "graphql"} <= {stack.protocol for stack in plan.stacks}


OF_A_STORE = "  - mix: {of: [{share: 80 %, balance: {}}, {share: 20 %, payment: {}}]}\n"


def test_a_mix_is_answered_from_memory_and_by_one_worker_where_it_asks_for_rows(tmp_path: Path) -> None:
    assert planned(tmp_path, OF_A_STORE).cells
    with pytest.raises(ExperimentError, match="`store: sqlite`: mix uses no store"):
        planned(tmp_path, OF_A_STORE + "store: sqlite\n")
    with pytest.raises(ExperimentError, match="`workers: 4` with balance: each worker would have a store of its own"):
        planned(tmp_path, OF_A_STORE + "workers: 4\nload: {concurrency: 4, requests: 100}\npin: 'off'\n")
