"""Every stack is tried with every operation before anything is measured: one checked reply, and how long turns must be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.errors import UsageError
from orchestrator.experiment.plan.estimate import own_s
from orchestrator.experiment.plan.plan import Cell
from orchestrator.experiment.plan.turn_lengths import as_measured
from orchestrator.experiment.read.units import format_duration
from orchestrator.measure.environment import differences, versions
from orchestrator.measure.run_context import RunContext
from orchestrator.measure.trial import TrialRun, body_bytes, mixed_bytes
from orchestrator.results.documents import Damaged
from orchestrator.results.manifest import Failure


def smoke(context: RunContext) -> None:
    """Try each exchange once (stack, operation, and what decides how its bodies look), where the plan first has it.

    What works tells its body sizes, which choose the floors, and how long a request takes, which decides the length of
    turns; what does not work is reported, its cells count as failed, and the others continue.
    """
    exchanges: dict[tuple[str, ...], Cell] = {}
    for cell in context.plan.cells:
        first = exchanges.setdefault(cell.exchange, cell)
        if first.turns is None and cell.turns is not None:
            exchanges[cell.exchange] = cell
    for number, cell in enumerate(exchanges.values()):
        context.interrupts.checkpoint()
        context.listener.live(f"trying {number + 1}/{len(exchanges)}: {context.label(cell)}")
        _try(context, cell)
    _fit_turns(context)


def _fit_turns(context: RunContext) -> None:
    """Make turns as long as the smoke test's requests need, and leave out the cells for which they would be too long."""
    plan = context.plan
    for cell in plan.cells:
        work_s = context.own_s.get(cell.exchange)
        if cell.turns is None or work_s is None:
            continue
        turns = as_measured(plan, cell, work_s)
        context.turns[cell.id] = turns
        if turns is None:
            context.warn(f"{context.label(cell)} takes no turns: its requests take too long for them")
        elif turns.length_s > cell.turns.length_s:
            length = format_duration(turns.length_s)
            context.listener.progress(
                f"{context.label(cell)}: turns of {length}, as its requests take longer than planned"
            )


def _try(context: RunContext, cell: Cell) -> None:
    name = "-".join(("smoke", *cell.exchange))
    ask = context.ask(cell, context.plan.seed, smoke=True)
    outcome = context.bench().make(ask, context.hosts.pair(cell.placement), name)
    failure, sizes = outcome.failure, body_bytes(outcome.parts)
    if failure is None and sizes is None:
        failure = Failure(stage="smoke", kind="protocol", message="the requester checked no reply")
    if failure is None:
        context.sizes[cell.exchange] = sizes or (0, 0)
        if mixed := mixed_bytes(outcome.parts):
            context.mixed_sizes[cell.exchange] = mixed
        if cell.turns is not None and (latency_s := _latency_s(context, cell, outcome)):
            context.own_s[cell.exchange] = own_s(context.plan, cell, latency_s)
        _refuse_other_libraries(context, cell, outcome)
        return
    failure = replace(failure, stage="smoke")
    context.broken[cell.exchange] = failure
    context.folder.log(f"{name}.txt", f"{failure.message}\n\n{failure.last_words}")
    context.warn(f"{context.label(cell)} does not work and is left out ({failure.kind})", failure.message)
    for line in failure.last_words.splitlines()[-8:]:
        context.listener.progress(f"    {line}")


def _refuse_other_libraries(context: RunContext, cell: Cell, outcome: TrialRun) -> None:
    """UsageError when an earlier session of this run measured the stack with other libraries."""
    stacks = {c.id: c.stack for c in context.plan.cells}
    for trial in context.folder.journal_state().trials:
        if stacks[trial.cell] != cell.stack or trial.outcome != "ok":
            continue
        changed = differences(
            versions(trial.ready, [part.done for part in trial.requesters]),
            versions(outcome.ready, [part.done for part in outcome.parts]),
        )
        if changed:
            raise UsageError(
                f"run {context.folder.id} cannot be resumed: {context.label(cell)} is not what it was: {'; '.join(changed)}",
                hint="trials made under different conditions must not be mixed: start a new run",
            )
        return


def _latency_s(context: RunContext, cell: Cell, outcome: TrialRun) -> float | None:
    """The median of the timed requests; None where it is not known."""
    from orchestrator.evidence.trial_median import median_ns

    part = outcome.parts[0]
    with TemporaryDirectory() as folder, context.interrupts.within_limits():
        record = Path(folder) / part.record.name
        try:
            part.host.fetch(part.record, record)
            latency_ns = median_ns(cell, [record])
        except (FileNotFoundError, Damaged):
            return None
    return None if latency_ns is None else latency_ns / 1e9
