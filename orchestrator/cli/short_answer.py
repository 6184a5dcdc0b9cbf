"""How `orch run` ends: the lines of the result, the conditions, and its tables."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator import quantities
from orchestrator.cli.answer import prediction
from orchestrator.cli.table_lines import tables_lines, wrapped
from orchestrator.findings.summary import RunSummary
from orchestrator.wording.answer import answer
from orchestrator.wording.tables.table import leading

_MOST_ROWS = 14


def short_lines(summary: RunSummary, *, width: int = 100, has_table: bool = True) -> Iterator[str]:
    """Yield the result wrapped at `width` columns, each text beside its head; tables without room are counted."""
    result = answer(summary)
    margin = max(len(line.head) for line in result.lines) + 2
    for line in result.lines:
        yield from wrapped(line.text, width, head=line.head, margin=margin)
    if text := prediction(summary):
        yield from wrapped(text, width, head="Prediction", margin=max(margin, 12))
    yield ""
    yield from wrapped(result.conditions, width)
    if has_table:
        shown = leading(result.tables, _MOST_ROWS)
        yield from tables_lines(shown, width)
        if len(result.tables) > len(shown):
            yield f"... and {quantities.count(len(result.tables) - len(shown), 'more table')}"
        yield ""
        yield from wrapped(result.checks, width)
        yield "Everything else: `orch runs show latest --full`"
