"""A made-up run beside a load generator, with what that printed in each turn."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from orchestrator.referee.tools import OHA
from orchestrator.results.manifest import RefereeRecord, RefereeTool, TurnRecord
from tests.support.runs import MemoryRun, a_plan, a_run, write_run

WINDOW_S = 3


def a_refereed_run(blocks: int = 3) -> MemoryRun:
    """Trials with a turn beside each, whose figures are those of `printed`."""
    run = a_run(a_plan(blocks=blocks))
    turns = tuple(_turn(trial.index, trial.block, trial.cell) for trial in run.stored.trials)
    settings = RefereeRecord(
        tools={"oha": RefereeTool(version=OHA.least, sha256="f" * 64, within=0.25)},
        cells=dict.fromkeys(dict.fromkeys(turn.cell for turn in turns), "oha"),
    )
    return replace(run, stored=replace(run.stored, referee=settings, turns=turns))


def write_refereed_run(run: MemoryRun, folder: Path) -> Path:
    """The run as a folder, with the output of each turn."""
    write_run(run, folder)
    for turn in run.stored.turns:
        path = folder / turn.raw
        path.parent.mkdir(exist_ok=True)
        path.write_text(printed(turn.index), encoding="utf-8")
    return folder


def printed(index: int) -> str:
    """What oha printed in the turn of that trial."""
    requests = 1_000 + index
    return json.dumps(
        {
            "statusCodeDistribution": {"200": requests},
            "errorDistribution": {},
            "responseTimeHistogram": {"0.001": requests},
            "summary": {"total": float(WINDOW_S)},
            "latencyPercentiles": {"p50": 0.001, "p99": 0.001},
        }
    )


def _turn(index: int, block: int, cell: str) -> TurnRecord:
    figures = OHA.read(printed(index), 1)
    return TurnRecord(
        index=index,
        block=block,
        cell=cell,
        attempt=0,
        tool="oha",
        came_first=bool(index % 2),
        started_wall_ns=1_700_000_000_000_000_000 + index,
        told_s=WINDOW_S,
        elapsed_s=WINDOW_S + 0.1,
        requests=figures.requests,
        window_s=figures.window_s,
        median_ns=figures.median_ns,
        answered=figures.requests,
        sha256=hashlib.sha256(printed(index).encode()).hexdigest(),
    )
