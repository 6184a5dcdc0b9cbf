"""What stacks are like beside their speed, as a table."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.findings.summary import RunSummary
from orchestrator.questions.scorecard.find import QUESTION, Judged
from orchestrator.wording.tables.table import Table, text_table

_TITLES: Mapping[str, str] = {
    "browser": "callable from a browser",
    "streaming": "streaming",
    "schema": "schema needed",
    "responder_lines": "lines written, responder",
    "requester_lines": "lines written, requester",
    "generated_lines": "lines generated, both ends",
}
_NOTE = "Yes and no are declared, not measured. Lines are those of code, for all operations that an end carries."


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return a table with a row for each stack."""
    rows = [(each.stack, *(_text(getattr(each, name)) for name in _TITLES)) for each in QUESTION.of(summary)]
    return (text_table("stacks beside their speed", ("stack", *_TITLES.values()), rows, (_NOTE,)),) if rows else ()


def _text(value: Judged | int | None) -> str:
    if isinstance(value, Judged):
        return value.answer or "-"
    return "-" if value is None else f"{value:,}"
