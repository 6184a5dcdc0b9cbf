"""A run as a terminal shows it in full: what to know beside the result, and every table."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator import quantities
from orchestrator.cli.table_lines import tables_lines, wrapped
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.words import trust
from orchestrator.wording.answer import answer
from orchestrator.wording.left_out import why_uncompared
from orchestrator.wording.notes import notes
from orchestrator.wording.tables import more_tables, question_tables, result_tables
from orchestrator.wording.tables.settings import Settings
from orchestrator.wording.tables.table import leading

_MOST_ROWS = 40


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
    labels = Settings(summary).labels
    reasons: dict[str, list[str]] = {}
    for cell in summary.cells:
        if reason := why_uncompared(cell, summary):
            reasons.setdefault(reason, []).append(labels[cell.id])
    for reason, names in reasons.items():
        yield from wrapped(f"no comparison of {quantities.listed(list(dict.fromkeys(names)))}: {reason}", width)
    yield from tables_lines((*more_tables.tables(summary), *question_tables.tables(summary)), width)


def prediction(summary: RunSummary) -> str:
    """Return how far off predictions are, and how to get one; empty without a model, or where nothing is answered."""
    model = PREDICTION.of(summary)
    if model is None or not model.fits or answer(summary).cannot_answer:
        return ""
    return f"{trust(model.judged)} A place of your own: `orch predict {summary.run_id} --rtt 80ms --bytes 20kB`."
