"""Find the values of `same` that stacks answered differently: their comparison is one of unlike things."""

from __future__ import annotations

from orchestrator.experiment.plan.plan import Plan
from orchestrator.questions.base import Basis, Question
from orchestrator.results.manifest import ReplyDifference

NAME = "sameness"


def _find(basis: Basis) -> tuple[ReplyDifference, ...]:
    """Return the differences that the run recorded; kept where a summary is judged again."""
    if basis.sampled is None:
        return QUESTION.of(basis.summary)
    return basis.sampled.evidence.manifest.differences


def _applies(plan: Plan) -> bool:
    return any(stack.external is not None for stack in plan.stacks)


QUESTION: Question[tuple[ReplyDifference, ...]] = Question(
    name=NAME, type=tuple[ReplyDifference, ...], empty=(), find=_find, applies=_applies
)
