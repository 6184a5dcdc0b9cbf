"""A run as a terminal shows it: the result with its conditions and its tables, and in full all that stands behind it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from orchestrator import quantities
from orchestrator.cli.table_lines import tables_lines, wrapped
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.words import trust
from orchestrator.wording.answer import answer
from orchestrator.wording.notes import notes
from orchestrator.wording.tables import more_tables, question_tables, result_tables
from orchestrator.wording.tables.table import leading

_MOST_ROWS, _MOST_ROWS_IN_SHORT = 40, 14


def result_lines(summary: RunSummary, *, is_full: bool) -> Iterator[str]:
    """Yield the result as verbs print it, as wide as the terminal; where `is_full`, all that stands behind it."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    yield from short_lines(summary, width=width, has_table=not is_full)
    if is_full:
        yield ""
        yield from answer_lines(summary, width=width)


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
        shown = leading(result.tables, _MOST_ROWS_IN_SHORT)
        yield from tables_lines(shown, width)
        if len(result.tables) > len(shown):
            yield f"... and {quantities.count(len(result.tables) - len(shown), 'more table')}"
        yield ""
        yield from wrapped(result.checks, width)
        yield "Everything else: `orch runs show latest --full`"


def answer_lines(summary: RunSummary, *, width: int = 100) -> Iterator[str]:
    """Yield the lines behind the result, sentences wrapped at `width` columns; the report has the rows beyond forty."""
    for sentence in notes(summary):
        yield from wrapped(sentence, width)
    if text := prediction(summary):
        yield from wrapped(f"Prediction: {text}", width)
    every = result_tables.tables(summary, is_full=True)
    shown = leading(every, _MOST_ROWS)
    yield from tables_lines(shown, width)
    if len(every) > len(shown):
        yield f"... and {quantities.count(len(every) - len(shown), 'more table')} in the report"
    yield from tables_lines((*more_tables.tables(summary), *question_tables.tables(summary)), width)


def prediction(summary: RunSummary) -> str:
    """Return how far off predictions are, and how to get one; empty without a model, or where nothing is answered."""
    model = PREDICTION.of(summary)
    if model is None or not model.fits or answer(summary).cannot_answer:
        return ""
    return f"{trust(model.judged)} A place of your own: `orch predict {summary.run_id} --rtt 80ms --bytes 20kB`."
