"""The error of a run's intervals: smaller where a run may have ended as soon as they were narrow (`questions.until`)."""

from __future__ import annotations

from orchestrator.experiment.plan.plan import Plan
from orchestrator.statistics.intervals import ALPHA

SHARE = 0.6
"""Of the error, at each look before the last block; chosen by simulation."""


def alpha(plan: Plan, blocks: int | None = None) -> float:
    """The error of intervals after so many blocks (those of the plan, unless given): smaller where a run may have ended.

    `plan` as it was made: of one that ended early, `repeats` are the blocks that it has.
    """
    run_blocks = plan.blocks if blocks is None else blocks
    return ALPHA * SHARE if plan.until is not None and run_blocks < plan.until.at_most else ALPHA
