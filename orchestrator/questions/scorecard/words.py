"""The scorecard as tables: stacks by criteria for each setting, and below it which stack is best."""

from __future__ import annotations

from orchestrator.findings.summary import RunSummary
from orchestrator.questions.scorecard.card import Score, ScoreTable
from orchestrator.questions.scorecard.find import QUESTION
from orchestrator.wording.table import Table, text_table

_NOTE = (
    "A leader is named where the comparisons of the run decide it, by the rule of the answer. (j): a judgement, which nobody"
    " measured; the report says why. Lines are those of code, for all operations that an end carries."
)


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return a table for each setting, and one of what stacks are like; intervals and reasons are in the report."""
    card = QUESTION.of(summary)
    return tuple(map(_table, (*card.settings, card.properties))) if card else ()


def _table(table: ScoreTable) -> Table:
    rows = [(f"{row.title} ({row.unit})", *map(_text, row.scores)) for row in table.rows]
    notes = (*(f"{row.title}: {row.best}" for row in table.rows), _NOTE)
    return text_table(table.setting, ("criterion", *table.stacks), rows, notes, texts=len(table.stacks))


def _text(score: Score) -> str:
    if score.basis == "not measured":
        return "-"
    return f"{score.text} (j)" if score.basis == "judgement" else score.text
