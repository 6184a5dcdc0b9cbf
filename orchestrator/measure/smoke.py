"""Every stack is tried with every operation before anything is measured: one checked reply, no timing."""

from __future__ import annotations

from orchestrator.errors import UsageError
from orchestrator.experiment.plan import Cell
from orchestrator.measure.environment import differences, versions
from orchestrator.measure.setting import Setting
from orchestrator.measure.trial import Outcome, body_bytes


def smoke(setting: Setting) -> None:
    """Try each stack x operation once, where the plan first has it.

    What works tells its body sizes, which choose the floors; what does not is reported, its cells count as failed, and
    the others go on.
    """
    pairs: dict[tuple[str, str], Cell] = {}
    for cell in setting.plan.cells:
        pairs.setdefault((cell.stack, cell.operation), cell)
    for number, (pair, cell) in enumerate(pairs.items()):
        setting.interrupts.checkpoint()
        setting.listener.live(f"trying {number + 1}/{len(pairs)}: {setting.label(cell)}")
        _try(setting, pair, cell)


def _try(setting: Setting, pair: tuple[str, str], cell: Cell) -> None:
    ask = setting.ask(cell, setting.plan.seed, smoke=True)
    outcome = setting.bench().make(ask, setting.hosts.pair(cell.placement), f"smoke-{pair[0]}-{pair[1]}")
    failure = outcome.failure or _without_sizes(outcome)
    if failure is None:
        setting.sizes[pair] = body_bytes(outcome.parts) or (0, 0)
        setting.checked_after_s = max(setting.checked_after_s, outcome.checked_after_s)
        _refuse_other_libraries(setting, cell, outcome)
        return
    failure = {**failure, "stage": "smoke"}
    setting.broken[pair] = failure
    setting.folder.log(f"smoke-{pair[0]}-{pair[1]}.txt", f"{failure['message']}\n\n{failure['last_words']}")
    setting.warn(f"{setting.label(cell)} does not work and is left out: {failure['message']}")
    for line in failure["last_words"].splitlines()[-8:]:
        setting.listener.progress(f"    {line}")


def _refuse_other_libraries(setting: Setting, cell: Cell, outcome: Outcome) -> None:
    """UsageError when an earlier session of this run measured the stack with other libraries."""
    stacks = {c.id: c.stack for c in setting.plan.cells}
    for trial in setting.folder.story().trials:
        if stacks[trial.cell] != cell.stack or trial.outcome != "ok":
            continue
        changed = differences(
            versions(trial.ready, [part.done for part in trial.requesters]),
            versions(outcome.ready, [part.done for part in outcome.parts]),
        )
        if changed:
            raise UsageError(
                f"run {setting.folder.id} cannot be resumed: {setting.label(cell)} is not what it was: {'; '.join(changed)}",
                hint="trials made under different conditions must not be mixed: start a new run",
            )
        return


def _without_sizes(outcome: Outcome) -> dict[str, str] | None:
    if body_bytes(outcome.parts) is not None:
        return None
    return {"kind": "protocol", "message": "the requester checked no reply", "last_words": ""}
