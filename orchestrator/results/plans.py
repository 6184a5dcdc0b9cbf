"""Holds what a run says of itself against its plan."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.reading import require
from orchestrator.results.manifest import BaselineRecord, TrialRecord


def require_of_plan(plan: Plan, trials: Iterable[TrialRecord], baselines: Iterable[BaselineRecord]) -> None:
    """ValueError names a trial or a baseline that the plan does not have."""
    placements = {placement.id for placement in plan.placements}
    finds = {cell.id: cell.find for cell in plan.cells}
    for record in trials:
        place = f"trial {record.index}"
        require(0 <= record.index < len(plan.trials), f"{place}: index", record.index)
        planned = plan.trials[record.index]
        require(record.cell == planned.cell, f"{place}: cell", record.cell)
        require(record.block == planned.block, f"{place}: block", record.block)
        find = finds[record.cell]
        require((record.probe is None) == (find is None), f"{place}: probe", record.probe)
        if find is not None and record.probe is not None:
            require(0 <= record.probe.step <= find.steps, f"{place}: probe.step", record.probe.step)
            rate = record.probe.rate_per_s
            require(rate == find.rate(record.probe.step), f"{place}: probe.rate_per_s", rate)
    for baseline in baselines:
        require(baseline.placement in placements, "baseline: placement", baseline.placement)
