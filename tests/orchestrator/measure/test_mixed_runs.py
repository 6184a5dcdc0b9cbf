"""Real runs of mixes on this machine: what responders answered, what rows say, and what floors stand beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.measure import run as measure
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.workspace import Workspace
from services.python.load.phases import MIXED, mix_order
from tests.support.hosts import Told

pytestmark = [pytest.mark.alone, pytest.mark.busy, pytest.mark.slow]

HEAD = """\
name: tiny
question: Does it run?
operations:
  - mix: {of: [{share: 70 %, timestamp: {}}, {share: 30 %, echo: {bytes: 5 kB}}]}
seed: 1
repeats: 1
warmup: {requests: 5, at_least: 0s}
"""
EXACT = ("completeness", "connections", "reply", "one stamp per sample", "mix", "floor")
SMALL, LARGE = "timestamp", "echo 5 kB"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(text: str) -> RunFolder:
    path = Path("tiny.yaml")
    path.write_text(HEAD + text)
    result = measure.start(make_plan(path), Workspace(), command=["orch"], listener=Told(), share=True)
    return RunFolder(result.folder)


@pytest.mark.parametrize(
    "load", ["{concurrency: 1, requests: 200}", "{concurrency: 4, requests: 200}", "{rate: 200/s, duration: 1s}"]
)
@pytest.mark.parametrize("connection", ["reuse", "per-request"])
def test_every_row_is_of_the_operation_that_the_seed_draws(connection: str, load: str) -> None:
    made = run(f"stacks: [rest, grpc]\nconnection: {connection}\nload: {load}\n")
    seeds = {trial.cell: trial.seed for trial in make_plan(Path("tiny.yaml")).trials}
    for cell, seed in seeds.items():
        rows = pd.read_parquet(made.path / "samples" / f"cell={cell}").sort_values("sequence")
        drawn = np.asarray(mix_order([7, 3], seed))[(rows["sequence"] - 1) % MIXED]
        assert (rows["parent"] == drawn + 1).all()
        assert (rows["operation"].astype(str) == np.where(drawn, LARGE, SMALL)).all()
        right = rows[rows["status"] == 0]
        assert (right.loc[right["parent"] == 2, "bytes_sent"] >= 5000).all()
        assert (right.loc[right["parent"] == 1, "bytes_sent"] < 200).all()
    summary = summarise(made)
    checks = {check.name: check.verdict for check in summary.checks if check.name in EXACT and check.verdict != "pass"}
    assert checks == {}
    floors = {(floor.send_bytes > 5000, *floor.cells) for floor in summary.floors if floor.kind == "tcp"}
    assert {is_large for is_large, *_ in floors} == {False, True}


def test_processes_draw_each_by_its_own_seed() -> None:
    made = run("stacks: rest\nprocesses: 2\nload: {concurrency: 2, requests: 200}\n")
    (cell,) = summarise(made).cells
    assert sum(part.requests for part in cell.details.mixed) == cell.requests == 200
    (trial,) = make_plan(Path("tiny.yaml")).trials
    rows = pd.read_parquet(made.path / "samples")
    for process in (0, 1):
        mine = rows[rows["process"] == process]
        drawn = np.asarray(mix_order([7, 3], trial.seed + process))[mine["sequence"] - 1]
        assert (mine["parent"] == drawn + 1).all()
