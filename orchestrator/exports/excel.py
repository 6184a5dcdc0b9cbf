"""Excel: a sheet that says what the runs are, with all cells, then a sheet for each protocol.

Text is written as text, whatever it begins with: never a formula, never a link. Whole numbers that Excel would round are
text, too. Rows are written as they come, so that a large export takes little memory.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from orchestrator.errors import MissingError, UsageError
from orchestrator.exports import cell_columns, findings, samples
from orchestrator.exports.findings import JudgedRun
from orchestrator.exports.typed_table import Column, Value
from orchestrator.results.outputs import output
from orchestrator.unseen import UNSEEN

MOST_ROWS = 1_048_576
"""Of a sheet, its head among them."""

_MOST_EXACT = 2**53
_MOST_TEXT = 32_767
_WIDTH = 16
_SUMMARY = "summary"
_MOST_OF_TAB = 31
_NOT_IN_TAB = re.compile(r"[\[\]:*?/\\\x00-\x1f\x7f]")


def write_cells(runs: Sequence[JudgedRun], path: Path) -> int:
    """A row for each cell, on the first sheet and on its protocol's; how many there are. UsageError: too many rows."""
    rows = [row for run in runs for row in run.cells()]
    require_room({_SUMMARY: len(rows) + len(runs)})
    with output(path, "--out", "export again") as partial, _Book(partial, runs) as book:
        book.add_overview(runs, rows)
        for row in rows:
            book.sheet_of(str(row["protocol"]), cell_columns.COLUMNS).add([row[c.name] for c in cell_columns.COLUMNS])
    return len(rows)


def write_samples(runs: Sequence[JudgedRun], path: Path) -> int:
    """A row for each sample, on its protocol's sheet; how many there are. UsageError: more than a sheet holds."""
    planned: Counter[str] = Counter()
    for run in runs:
        planned.update(samples.rows_by_protocol(run.folder))
    require_room(planned)
    count = 0
    with output(path, "--out", "export again") as partial, _Book(partial, runs) as book:
        book.add_overview(runs, [row for run in runs for row in run.cells()])
        for run in runs:
            for piece in samples.pieces(run.folder, run.summary):
                sheet = book.sheet_of(piece.protocol, samples.COLUMNS)
                for values in piece.rows():
                    sheet.add(values)
                count += piece.table.num_rows
    return count


def require_room(rows: Mapping[str, int]) -> None:
    """UsageError when a sheet would have more rows than Excel has; `rows` by what the sheet is of."""
    for name, count in rows.items():
        if count >= MOST_ROWS:
            raise UsageError(
                f"the sheet of {name} would have {count + 1:,} rows, and Excel has {MOST_ROWS:,}",
                hint="export `--format parquet` or `--format csv`, one run at a time, or `--summary`",
            )


def tab_name(text: str, taken: Collection[str]) -> str:
    """A name that a sheet can have, at most 31 characters, and that none of `taken` has, whatever the case."""
    base = _NOT_IN_TAB.sub("-", UNSEEN.sub("", text)).strip("' ")[:_MOST_OF_TAB] or "sheet"
    known, name, number = {other.casefold() for other in taken}, base, 1
    while name.casefold() in known or name.casefold() == "history":  # which Excel keeps for itself
        number += 1
        name = f"{base[: _MOST_OF_TAB - 1 - len(str(number))]} {number}"
    return name


class _Sheet:
    """A sheet with a head, to which rows are added one after the other."""

    def __init__(self, sheet: Any, name: str) -> None:
        self._sheet, self._name = sheet, name
        self._row = 0

    def head(self, columns: Sequence[Column], bold: Any) -> None:
        """A row of the columns' names, which carry their units."""
        for place, column in enumerate(columns):
            self._sheet.write_string(self._row, place, column.name, bold)
        self._row += 1

    def add(self, values: Iterable[Value], style: Any = None) -> None:
        """A row; UsageError when the sheet is full."""
        require_room({self._name: self._row})
        for place, value in enumerate(values):
            if isinstance(value, bool):
                self._sheet.write_boolean(self._row, place, value, style)
            elif isinstance(value, float) or (isinstance(value, int) and abs(value) <= _MOST_EXACT):
                self._sheet.write_number(self._row, place, value, style)
            elif value is not None and value != "":
                self._sheet.write_string(self._row, place, str(value)[:_MOST_TEXT], style)
        self._row += 1


class _Target:
    """A file that takes nothing more once the disk refused something: what is closed later makes no noise of its own."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._refused = file, False

    def write(self, data: bytes) -> int:
        """As of a file."""
        if self._refused:
            return len(data)
        try:
            return self._file.write(data)
        except OSError:
            self._refused = True
            raise

    def seek(self, place: int, whence: int = 0) -> int:
        """As of a file."""
        return 0 if self._refused else self._file.seek(place, whence)

    def tell(self) -> int:
        """As of a file."""
        return 0 if self._refused else self._file.tell()

    def flush(self) -> None:
        """As of a file; `close` tells what could not be written."""


class _Book:
    """A workbook; as a context it is written when the block ends well. Files of the library's own are gone afterwards."""

    def __init__(self, path: Path, runs: Sequence[JudgedRun]) -> None:
        try:
            import xlsxwriter
        except ImportError as error:
            raise MissingError(
                "XlsxWriter is not installed, which writes Excel's files",
                hint="install what locks/run.lock lists (`make setup`), or export another format",
            ) from error
        # Beside the export: what fits there fits there.
        self._scratch = tempfile.TemporaryDirectory(
            prefix=f".{path.name[:50]}.", dir=path.parent, ignore_cleanup_errors=True
        )
        self._file = path.open("wb", buffering=0)
        options = {"constant_memory": True, "tmpdir": self._scratch.name, "strings_to_urls": False}
        self._book = xlsxwriter.Workbook(_Target(self._file), options)
        self._book.set_properties({"created": _moment(runs[-1].summary.started_at)})
        self._bold = self._book.add_format({"bold": True})
        self._sheets: dict[str, _Sheet] = {}
        self._names: list[str] = []

    def __enter__(self) -> _Book:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        from xlsxwriter.exceptions import FileCreateError

        try:
            if kind is None:
                self._book.close()
        except FileCreateError as error:
            cause = error.args[0] if error.args else None
            raise cause if isinstance(cause, OSError) else error from None
        finally:
            with suppress(OSError):
                self._file.close()
            self._scratch.cleanup()

    def add_overview(self, runs: Sequence[JudgedRun], rows: Sequence[Mapping[str, Value]]) -> None:
        """The first sheet: what each run is and which checks failed, and below it all cells."""
        sheet = self._new(_SUMMARY)
        for run in runs:
            about = run.about()
            for column in findings.RUN_COLUMNS:
                sheet.add([column.name, about[column.name]])
            sheet.add([])
        sheet.head(cell_columns.COLUMNS, self._bold)
        for row in rows:
            sheet.add([row[c.name] for c in cell_columns.COLUMNS])

    def sheet_of(self, protocol: str, columns: Sequence[Column]) -> _Sheet:
        """The sheet of a protocol, made with its head at the first call."""
        if protocol not in self._sheets:
            self._sheets[protocol] = sheet = self._new(protocol, frozen=True)
            sheet.head(columns, self._bold)
        return self._sheets[protocol]

    def _new(self, name: str, *, frozen: bool = False) -> _Sheet:
        tab = tab_name(name, self._names)
        self._names.append(tab)
        sheet = self._book.add_worksheet(tab)
        sheet.set_column(0, len(cell_columns.COLUMNS), _WIDTH)
        if frozen:
            sheet.freeze_panes(1, 0)
        return _Sheet(sheet, name)


def _moment(stamp: str) -> datetime:
    """When a run began, for the file's properties: the same runs give the same file."""
    try:
        return datetime.fromisoformat(stamp).replace(tzinfo=None)
    except ValueError:
        return datetime(2000, 1, 1)
