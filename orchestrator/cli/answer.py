"""A run as a terminal shows it: the result with its conditions and its tables, and in full all that stands behind it."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.words import trust
from orchestrator.wording.answer import answer
from orchestrator.wording.notes import notes
from orchestrator.wording.tables import more_tables, question_tables, result_tables
from orchestrator.wording.tables.table import Entry, Table, leading

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
    if has_table:
        yield f"Everything else: `orch runs show {summary.run.id} --full`"


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
    return f"{trust(model.judged)} A place of your own: `orch predict {summary.run.id} --rtt 80ms --bytes 20kB`."


# ---- tables

_GAP = 2  # columns between two of the table
_INDENT = "  "


def tables_lines(tables: Iterable[Table], width: int) -> Iterator[str]:
    """Yield the lines of tables below one another, each with its notes; a note of an earlier table is left out."""
    seen: set[str] = set()
    for table in tables:
        yield ""
        yield from table_lines(table, width)
        for note in table.notes:
            yield from () if note in seen else (f"{_INDENT}{line}" for line in wrapped(note, width - len(_INDENT)))
        seen |= {*table.notes}


def wrapped(text: str, width: int, *, head: str = "", margin: int = 0) -> Iterator[str]:
    """Yield a text wrapped at a width beside its head; no line ends between a number and its unit."""
    lines = textwrap.wrap(quantities.unbroken(text), width - margin, break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines):
        yield f"{'' if number else head:{margin}}{line}".replace("\u00a0", " ")


def table_lines(table: Table, width: int) -> Iterator[str]:
    """The title, then the table in as many parts as its columns need at this width."""
    yield ", ".join(filter(None, (table.title, table.unit)))
    labels = max(len(text) for row in table.rows for text in (row.label, f"{_INDENT}{row.detail}".rstrip()))
    columns = [_column(table, number) for number in range(len(table.columns))]
    for part in _parts([max(map(len, column)) for column in columns], width - labels - len(_INDENT)):
        yield from _part(table, labels, {number: columns[number] for number in part})


def _parts(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """The numbers of the columns that have room beside one another."""
    part: list[int] = []
    for number in range(len(widths)):
        if part and sum(widths[other] + _GAP for other in (*part, number)) > room:
            yield part
            part = []
        part.append(number)
    yield part


def _column(table: Table, number: int) -> list[str]:
    """The lines of a column, two of its head and two of each row."""
    column = table.columns[number]
    entries = [row.entries[number] for row in table.rows]
    return [column.head, column.detail, *(line for entry in entries for line in (entry.text, _below(entry)))]


def _below(entry: Entry) -> str:
    return ", ".join((*filter(None, (entry.detail,)), *entry.flags))


def _part(table: Table, labels: int, part: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Yield the lines of some columns; second lines only where a head or a row has one."""
    heads = ["", "", *(text for row in table.rows for text in (row.label, f"{_INDENT}{row.detail}"))]
    columns = []
    for number, texts in part.items():
        wide = max(map(len, texts))
        is_text = table.columns[number].is_text
        columns.append([f"{'':{_GAP}}{text:{'<' if is_text else '>'}{wide}}" for text in texts])
    for number, head in enumerate(heads):
        line = f"{_INDENT}{head.ljust(labels)}{''.join(column[number] for column in columns)}".rstrip()
        if line:
            yield line
