"""Find the values of `same` that stacks answered differently: their comparison is one of unlike things."""

from __future__ import annotations

from orchestrator.questions.base import Question
from orchestrator.results.manifest import ReplyDifference

QUESTION: Question[tuple[ReplyDifference, ...]] = Question(
    name="sameness",
    type=tuple[ReplyDifference, ...],
    empty=(),
    find=lambda basis: basis.evidence.manifest.differences,
    applies=lambda plan: any(stack.external is not None for stack in plan.stacks),
)
