"""Turns of a load generator beside a made-up run: those of another run of the same plan, in which nothing is wrong."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.evidence.collect import collect
from orchestrator.results.manifest import RefereeRecord, RefereeTool, TurnRecord
from tests.support.runs import MemoryRun

WITHIN = 0.25
_WINDOW_S = 10.0


def beside(run: MemoryRun, theirs: MemoryRun, within: float = WITHIN) -> MemoryRun:
    """The run with a turn beside each trial, whose figures are those of the other run's trial of the same index."""
    turns = [
        TurnRecord(
            index=trial.record.index,
            block=trial.record.block,
            cell=cell.cell.id,
            attempt=0,
            tool="wrk",
            came_first=bool(trial.record.block % 2),
            started_wall_ns=trial.record.started_wall_ns,
            requests=max(1, round(trial.summary.throughput_per_s * _WINDOW_S)),
            window_s=_WINDOW_S,
            median_ns=trial.summary.median * 1e6,
        )
        for cell in collect(theirs, {}).cells
        for trial in cell.trials
        if trial.summary and trial.summary.median
    ]
    tools = {"wrk": RefereeTool(version="4.1.0", sha256="", within=within)}
    referee = RefereeRecord(tools=tools, cells={turn.cell: turn.tool for turn in turns})
    return replace(run, stored=replace(run.stored, referee=referee, turns=tuple(turns)))
