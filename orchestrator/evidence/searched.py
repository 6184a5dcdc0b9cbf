"""A run of searches as a run of the rates that they tried: every rate is a cell like any other, with the trials it had.

All that judges or describes cells does so without knowing of searches. What the searches found is for `capacity`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from orchestrator.experiment.plan.loads import at_step
from orchestrator.experiment.plan.plan import Plan
from orchestrator.results.manifest import Manifest, TrialRecord


def expanded(manifest: Manifest) -> tuple[Plan, Manifest]:
    """Plan and manifest with a cell for each rate that was tried; both as they are where nothing is searched for.

    A run that ended as soon as its intervals were narrow enough has the blocks that it made: whether it might end there,
    the check `stopping` says.
    """
    plan = manifest.plan
    if plan.until is not None and manifest.state == "complete":
        blocks = max((trial.block for trial in manifest.trials), default=-1) + 1
        return replace(plan, repeats=blocks, trials=tuple(t for t in plan.trials if t.block < blocks)), manifest
    if all(cell.find is None for cell in plan.cells):
        return plan, manifest
    tried = {(record.cell, record.probe.step) for record in manifest.trials if record.probe is not None}
    searched = {cell.id: cell for cell in plan.cells if cell.find is not None}
    tried_cells = {
        (name, step): at_step(cell, step)
        for name, cell in searched.items()
        for step in sorted(step for search, step in tried if search == name)
    }
    ids: dict[str, list[str]] = defaultdict(list)
    for (search, _), cell in tried_cells.items():
        ids[search].append(cell.id)
    trials = tuple(
        t if t.probe is None else replace(t, cell=tried_cells[t.cell, t.probe.step].id) for t in manifest.trials
    )
    cells = {trial.index: trial.cell for trial in trials}
    return (
        replace(
            plan,
            cells=tuple(tried_cells.values()),
            trials=tuple(replace(t, cell=cells.get(t.index, t.cell)) for t in plan.trials),
            repeats=plan.blocks,
        ),
        replace(
            manifest,
            trials=trials,
            baselines=tuple(
                replace(b, cells=tuple(of_rate for cell in b.cells for of_rate in ids.get(cell, [cell])))
                for b in manifest.baselines
            ),
        ),
    )


def searches(plan: Plan, manifest: Manifest) -> dict[tuple[str, int], list[TrialRecord]]:
    """The trials of each search that count, in their order, by cell and repeat."""
    by_search: dict[tuple[str, int], list[TrialRecord]] = defaultdict(list)
    for trial in manifest.trials:
        by_search[trial.cell, trial.block // plan.rounds].append(trial)
    return dict(by_search)
