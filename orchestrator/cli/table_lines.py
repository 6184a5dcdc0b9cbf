"""A table as lines of a terminal: each row has a second line for what is below its figures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from orchestrator import quantities
from orchestrator.wording.tables.table import Entry, Table

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
        yield from _part(table, labels, part)


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


def _part(table: Table, labels: int, part: Sequence[int]) -> Iterator[str]:
    """Yield the lines of some columns; second lines only where a head or a row has one."""
    heads = ["", "", *(text for row in table.rows for text in (row.label, f"{_INDENT}{row.detail}"))]
    columns = []
    for number in part:
        texts = _column(table, number)
        wide = max(map(len, texts))
        is_text = table.columns[number].is_text
        columns.append([f"{'':{_GAP}}{text:{'<' if is_text else '>'}{wide}}" for text in texts])
    for number, head in enumerate(heads):
        line = f"{_INDENT}{head.ljust(labels)}{''.join(column[number] for column in columns)}".rstrip()
        if line:
            yield line
