"""A table as lines of a terminal: each row has a second line for what is below its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.analysis.table import Entry, Row, Table

_GAP = 2  # columns between two of the table
_INDENT = "  "


def table_lines(table: Table, width: int) -> Iterator[str]:
    """The title, then the table in as many parts as its columns need at this width."""
    yield f"{table.title}, {table.unit}"
    labels = max(len(text) for row in table.rows for text in (row.label, f"{_INDENT}{row.detail}"))
    columns = [_column(table, number) for number in range(len(table.columns))]
    for part in _parts([max(map(len, column)) for column in columns], width - labels - len(_INDENT)):
        yield from _part(table.rows, labels, [columns[number] for number in part])


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


def _part(rows: Sequence[Row], labels: int, columns: Sequence[Sequence[str]]) -> Iterator[str]:
    heads = ["", "", *(text for row in rows for text in (row.label, f"{_INDENT}{row.detail}"))]
    for number, head in enumerate(heads):
        texts = [column[number].rjust(max(map(len, column)) + _GAP) for column in columns]
        line = f"{_INDENT}{head.ljust(labels)}{''.join(texts)}".rstrip()
        if line or number != 1:
            yield line
