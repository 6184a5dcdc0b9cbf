"""The sentences of questions that stand in the answer of a run."""

from __future__ import annotations

from orchestrator.analysis.summary import RunSummary
from orchestrator.questions.shares import words as share_words
from orchestrator.questions.shares.find import QUESTION as SHARES
from orchestrator.questions.stability import words as spread_words
from orchestrator.questions.stability.find import QUESTION as STABILITY
from orchestrator.questions.timing_rules import words as rule_words
from orchestrator.questions.timing_rules.find import QUESTION as TIMING_RULES


def leading(summary: RunSummary) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences of questions that lead an answer, and those that stand behind it."""
    shares = [(share.is_told, share_words.sentence(share)) for share in SHARES.of(summary)]
    first = (
        *rule_words.sentences(TIMING_RULES.of(summary)),
        *(text for is_told, text in shares if is_told),
        *spread_words.sentences(STABILITY.of(summary), summary.cells),
    )
    return first, tuple(text for is_told, text in shares if not is_told)
