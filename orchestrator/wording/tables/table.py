"""A table as data: the terminal, the report and Markdown each have one writer for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

RowKind = Literal["stack", "floor"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column's head, and a second line below it; `is_text`: its entries are no figures."""

    head: str
    detail: str = ""
    is_text: bool = False


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A cell of the table; `value` is the number that `text` shows, unrounded. `flags` say why not to rely on it."""

    text: str
    detail: str = ""
    value: float | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row with an entry for each column. `series` is the id of its stack, or the kind of its floor."""

    label: str
    detail: str = ""
    kind: RowKind = "stack"
    series: str = ""
    entries: tuple[Entry, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows below columns; `unit` is that of all values, `label` the head of the rows, `notes` are sentences below."""

    title: str
    unit: str = ""
    label: str = "stack"
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def text_table(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], notes: Sequence[str] = (), *, texts: int = 0
) -> Table:
    """Return a table of texts: the first column labels the rows, and the last `texts` columns hold no figures."""
    first_text = len(heads) - texts
    return Table(
        title=title,
        label=heads[0],
        columns=tuple(Column(head=head, is_text=n >= first_text) for n, head in enumerate(heads[1:], start=1)),
        rows=tuple(Row(label=row[0], entries=tuple(Entry(text=text) for text in row[1:])) for row in rows),
        notes=tuple(notes),
    )


def notes(tables: Iterable[Table]) -> tuple[str, ...]:
    """The notes of several tables, each once."""
    return tuple(dict.fromkeys(note for table in tables for note in table.notes))


def leading(tables: Sequence[Table], most_rows: int) -> tuple[Table, ...]:
    """The first of several tables, and those behind it that have no more rows together."""
    totals = accumulate(len(table.rows) for table in tables)
    return tuple(
        table
        for number, (table, rows) in enumerate(zip(tables, totals, strict=True))
        if not number or rows <= most_rows
    )
