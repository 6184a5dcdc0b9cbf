"""Plans that search for rates, and synthetic runs of them in which it is known where goals hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from orchestrator.experiment.model.factors import values
from orchestrator.experiment.model.goal import Goal
from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.cells import cell_id
from orchestrator.experiment.plan.loads import at_step, room
from orchestrator.experiment.plan.plan import Find
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.measure.remaining import Searching
from orchestrator.results.manifest import Probe, TrialRecord
from services.python.contract.lines import STATUSES, Load
from services.python.load.phases import arrivals
from tests.support.drafts import Draft, leave_unsent
from tests.support.floor_readings import look
from tests.support.runs import BOOT_NS, MS, US, MemoryRun, S, _draft, _manifest, _trial_record
from tests.support.shapes import narrow

P50 = (Goal(statistic="p50", below=0.01),)

Capacity = Callable[[p.Cell, int, np.random.Generator], float]
"""Up to which rate goals hold, given the cell and the repeat."""


def searching(plan: p.Plan, find: Find, *, repeats: int) -> p.Plan:
    """The same plan with a search for the rate of each of its cells."""
    load = Load(concurrency=find.concurrency or room(find.highest), duration_s=1.0, rate_per_s=find.highest)
    parts: dict[str, Sequence[Any]] = {"stack": plan.stacks, "operation": plan.operations, "placement": plan.placements}
    cells = []
    for cell in plan.cells:
        of = {name: next(part for part in known if part.id == getattr(cell, name)) for name, known in parts.items()}
        factors = values(**of, load=load, call=cell.factors)
        name = cell_id(
            stack=cell.stack, operation=cell.operation, placement=cell.placement, values=factors, load=load, find=find
        )
        cells.append(replace(cell, id=name, factors=factors, load=load, find=find))
    return replace(plan, cells=tuple(cells), trials=schedule(cells, repeats, plan.seed), repeats=repeats)


def a_search_run(
    plan: p.Plan,
    capacity: Capacity,
    *,
    seed: int = 1,
    cpu: Mapping[str, tuple[float, float]] | None = None,
    spoil: Callable[[Draft, bool], None] | None = None,
) -> MemoryRun:
    """A run that follows the searches: above its capacity a cell's requests take 20 ms, below it 0.3 ms.

    `cpu`: by protocol, how busy responder and requester are above it.
    """
    rng = np.random.default_rng(seed)
    state = Searching(plan)
    cells, stacks = {c.id: c for c in plan.cells}, {s.id: s for s in plan.stacks}
    operations = {o.id: o for o in plan.operations}
    most: dict[tuple[str, int], float] = {}
    trials, files, readings = [], {}, []
    for planned in plan.trials:
        if not state.still_needed([planned]):
            continue
        search, repeat = cells[planned.cell], planned.block // plan.rounds
        cell = state.cell(planned, search)
        limit = most.setdefault((search.id, repeat), capacity(search, repeat, rng))
        rate = cell.load.rate_per_s or 0.0
        is_over = rate > limit
        due = len(arrivals(cell.load, planned.seed))
        shown = replace(cell, load=replace(cell.load, requests=due, duration_s=None))
        base_ns = (20 * MS if is_over else 300 * US) * 1.0
        clock = BOOT_NS + planned.index * 30 * S
        draft = _draft(
            rng, shown, operations[cell.operation], planned.block, base_ns, 0.0, 1, clock, narrow, planned.seed
        )
        if is_over and cpu and stacks[cell.stack].protocol in cpu:
            responder, requester = cpu[stacks[cell.stack].protocol]
            span_s = float(draft.columns["received_ns"].max() - draft.columns["sent_ns"].min()) / S
            draft.done["cpu_share"] = requester
            draft.stats["cpu_s"] = draft.stats_before["cpu_s"] + responder * span_s
        if spoil:
            spoil(draft, is_over)
        path = f"samples/cell={cell.id}/{planned.index:05d}.parquet"
        files[path] = draft.columns
        record = _trial_record(planned, [draft], [path])
        find = search.find
        step = next(step for step in range(find.steps + 1) if at_step(search, step).id == cell.id)
        verdict = "not held" if is_over else "held"
        record = replace(record, probe=Probe(step=step, rate_per_s=find.rate(step), verdict=verdict))
        state.take(record)
        trials.append(record)
    for block in sorted({trial.block for trial in trials}):
        beside = tuple(dict.fromkeys(t.cell for t in trials if t.block == block))
        for moment in ("before", "after"):
            for kind in ("ping", "tcp"):
                reading, columns = look(rng, kind, "local", block, moment, 0.0, beside)
                files[reading.samples] = columns
                readings.append(reading)
    return MemoryRun(stored=_manifest(plan, trials, readings), files=files)


def unsent(draft: Draft, is_over: bool) -> None:
    """Above the capacity a third of what is due is never sent, and what is sent is quick."""
    if not is_over:
        return
    rows = draft.columns
    measured = np.flatnonzero(rows["phase"] == 1)
    late = measured[np.argsort(rows["intended_ns"][measured], kind="stable")][-(measured.size // 3) :]
    rows["received_ns"] = np.minimum(rows["received_ns"], rows["sent_ns"] + 300 * US)
    leave_unsent(draft, late, int(rows["received_ns"].max()), "requester-behind")


def timed_out(draft: Draft, is_over: bool) -> None:
    """Above the capacity one request in five times out, which takes its connection with it; the others are quick."""
    if is_over:
        rows = draft.columns
        lost = np.flatnonzero(rows["phase"] == 1)[::5]
        late_ns = rows["received_ns"][lost]
        rows["received_ns"] = rows["sent_ns"] + (rows["received_ns"] - rows["sent_ns"]) // 66  # as below it
        rows["received_ns"][lost] = late_ns
        rows["status"][lost] = STATUSES.index("timeout")
        draft.done["errors"] = {"timeout": lost.size}
        draft.done["verified"] -= lost.size
        draft.done["connections_opened"] += lost.size
        draft.stats["peers"] += lost.size


def wrong(draft: Draft, is_over: bool) -> None:
    """The same, and one reply is wrong."""
    timed_out(draft, is_over)
    if is_over:
        place = np.flatnonzero((draft.columns["phase"] == 1) & (draft.columns["status"] == 0))[0]
        draft.columns["status"][place] = STATUSES.index("wrong-reply")
        draft.done["errors"]["wrong-reply"] = 1
        draft.done["verified"] -= 1


def waiting(most: int | None) -> Callable[[Draft, bool], None]:
    """Above the capacity requests are sent 11 ms after they are due and answered soon, with at most so many in flight."""

    def spoil(draft: Draft, is_over: bool) -> None:
        if is_over:
            rows = draft.columns
            took_ns = (rows["received_ns"] - rows["sent_ns"]) * (24 if most else 1) // 66
            rows["sent_ns"] += 11 * MS
            rows["received_ns"] = rows["sent_ns"] + took_ns
            if most:
                order = np.argsort(rows["sent_ns"], kind="stable")
                ended, sent = order[:-most], rows["sent_ns"][order]
                rows["received_ns"][ended] = np.minimum(rows["received_ns"][ended], sent[most:])

    return spoil


def cut(run: MemoryRun, block: int) -> MemoryRun:
    """The same run, ended after so many blocks."""
    kept: tuple[TrialRecord, ...] = tuple(t for t in run.stored.trials if t.block < block)
    stored = replace(run.stored, trials=kept, state="interrupted")
    return MemoryRun(stored=stored, files=run.files)
