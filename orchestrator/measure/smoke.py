"""Every stack is tried with every operation before anything is measured: one checked reply, no timing."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.errors import UsageError
from orchestrator.experiment.plan.plan import Cell
from orchestrator.measure.environment import differences, versions
from orchestrator.measure.run_context import RunContext
from orchestrator.measure.trial import Outcome, body_bytes, mixed_bytes
from orchestrator.results.manifest import Failure


def smoke(context: RunContext) -> None:
    """Try each exchange once (stack, operation, and what decides how its bodies look), where the plan first has it.

    What works tells its body sizes, which choose the floors; what does not is reported, its cells count as failed, and
    the others continue.
    """
    exchanges: dict[tuple[str, ...], Cell] = {}
    for cell in context.plan.cells:
        exchanges.setdefault(cell.exchange, cell)
    for number, cell in enumerate(exchanges.values()):
        context.interrupts.checkpoint()
        context.listener.live(f"trying {number + 1}/{len(exchanges)}: {context.label(cell)}")
        _try(context, cell)


def _try(context: RunContext, cell: Cell) -> None:
    name = "-".join(("smoke", *cell.exchange))
    ask = context.ask(cell, context.plan.seed, smoke=True)
    outcome = context.bench().make(ask, context.hosts.pair(cell.placement), name)
    failure = outcome.failure or _without_sizes(outcome)
    if failure is None:
        context.sizes[cell.exchange] = body_bytes(outcome.parts) or (0, 0)
        if mixed := mixed_bytes(outcome.parts):
            context.mixed_sizes[cell.exchange] = mixed
        _refuse_other_libraries(context, cell, outcome)
        return
    failure = replace(failure, stage="smoke")
    context.broken[cell.exchange] = failure
    context.folder.log(f"{name}.txt", f"{failure.message}\n\n{failure.last_words}")
    context.warn(f"{context.label(cell)} does not work and is left out ({failure.kind})", failure.message)
    for line in failure.last_words.splitlines()[-8:]:
        context.listener.progress(f"    {line}")


def _refuse_other_libraries(context: RunContext, cell: Cell, outcome: Outcome) -> None:
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


def _without_sizes(outcome: Outcome) -> Failure | None:
    if body_bytes(outcome.parts) is not None:
        return None
    return Failure(stage="smoke", kind="protocol", message="the requester checked no reply")
