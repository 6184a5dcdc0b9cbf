"""Excel: a sheet that says what the runs are, with all cells, then a sheet for each protocol.

Text is written as text, whatever it begins with: never a formula, never a link. Whole numbers that Excel would round are
text, too. Rows are written as they come, so that a large export takes little memory.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from orchestrator.disk import output
from orchestrator.errors import UsageError
from orchestrator.exports import cell_columns
from orchestrator.exports.cell_columns import JudgedRun
from orchestrator.exports.samples import Piece
from orchestrator.exports.targets import AGAIN
from orchestrator.exports.typed_table import Column, Value

MOST_ROWS = 1_048_576
"""Of a sheet, its head among them."""

_ROWS_AT_ONCE = 1 << 14
_MOST_EXACT = 2**53
_MOST_TEXT = 32_767
_WIDTH = 16


def write(runs: Sequence[JudgedRun], path: Path, columns: Sequence[Column], pieces: Iterable[Piece]) -> int:
    """Write an overview, then the pieces on the sheets of their protocols; return how many rows those have.

    UsageError when a sheet would have more rows than Excel has; MissingError for what the disk refuses.
    """
    import xlsxwriter

    file, count = io.BytesIO(), 0
    with output(path, AGAIN) as partial, tempfile.TemporaryDirectory(prefix="orch-export-") as scratch:
        book = xlsxwriter.Workbook(file, {"constant_memory": True, "tmpdir": scratch})
        # The same runs give the same file.
        book.set_properties({"created": datetime.fromisoformat(runs[-1].summary.run.started_at).replace(tzinfo=None)})
        bold = book.add_format({"bold": True})
        summary = _Sheet(book, "summary", len(cell_columns.COLUMNS))
        for run in runs:
            about = run.about()
            for column in cell_columns.RUN_COLUMNS:
                summary.add([column.name, about[column.name]])
            summary.add([])
        summary.add([column.name for column in cell_columns.COLUMNS], bold)
        for run in runs:
            for row in cell_columns.cell_rows(run.summary):
                summary.add(row.values())
        sheets: dict[str, _Sheet] = {}
        for piece in pieces:
            if piece.protocol not in sheets:
                sheets[piece.protocol] = sheet = _Sheet(book, piece.protocol, len(columns))
                sheet.add([column.name for column in columns], bold)
            for values in _rows(piece):
                sheets[piece.protocol].add(values)
            count += piece.table.num_rows
        book.close()
        partial.write_bytes(file.getvalue())
    return count


def _rows(piece: Piece) -> Iterator[tuple[Any, ...]]:
    """The rows as tuples, few in memory at a time."""
    for batch in piece.table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


class _Sheet:
    def __init__(self, book: Any, name: str, columns: int) -> None:
        self._sheet = book.add_worksheet(name)
        self._sheet.set_column(0, columns, _WIDTH)
        self._name, self._row = name, 0

    def add(self, values: Iterable[Value], style: Any = None) -> None:
        """Add a row; UsageError when the sheet is full."""
        if self._row >= MOST_ROWS:
            raise UsageError(
                f"the sheet of {self._name} would have more than the {MOST_ROWS:,} rows that Excel has",
                hint="export `--format parquet` or `--format csv`, one run at a time, or `--summary`",
            )
        for place, value in enumerate(values):
            if isinstance(value, bool):
                self._sheet.write_boolean(self._row, place, value, style)
            elif isinstance(value, float) or (isinstance(value, int) and abs(value) <= _MOST_EXACT):
                self._sheet.write_number(self._row, place, value, style)
            elif value is not None and value != "":
                self._sheet.write_string(self._row, place, str(value)[:_MOST_TEXT], style)
        self._row += 1
