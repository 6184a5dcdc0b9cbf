"""CSV: UTF-8, a comma between values, text in quotes, an empty field where there is no value.

Text that a spreadsheet might run stands behind an apostrophe (`harmless.cell_text`); numbers are never touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.exports import cells, samples
from orchestrator.exports.column import arrow_table
from orchestrator.exports.harmless import cell_text
from orchestrator.exports.judged_run import JudgedRun
from orchestrator.exports.targets import exported_file

if TYPE_CHECKING:
    import pyarrow as pa


def write_summary(runs: Sequence[JudgedRun], path: Path) -> int:
    """A row for each cell of each run; how many there are."""
    import pyarrow.csv

    rows = [row for run in runs for row in run.cells()]
    with exported_file(path) as partial, partial.open("wb") as file:
        pyarrow.csv.write_csv(_harmless(arrow_table(cells.COLUMNS, rows)), file)
    return len(rows)


def write_raw(runs: Sequence[JudgedRun], path: Path) -> int:
    """A row for each sample of each run, file by file; how many there are."""
    import pyarrow.csv

    count = 0
    with (
        exported_file(path) as partial,
        partial.open("wb") as file,
        pyarrow.csv.CSVWriter(file, _plain(samples.schema())) as writer,
    ):
        for run in runs:
            for piece in samples.pieces(run.folder, run.summary):
                writer.write_table(_harmless(piece.table))
                count += piece.table.num_rows
    return count


def _plain(schema: pa.Schema) -> pa.Schema:
    """The schema with ordinary text in place of text by dictionary."""
    import pyarrow as pa

    return pa.schema([pa.field(f.name, pa.string()) if pa.types.is_dictionary(f.type) else f for f in schema])


def _harmless(table: pa.Table) -> pa.Table:
    """The table with ordinary text that no spreadsheet runs."""
    import pyarrow as pa

    arrays = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
            encoded = column.combine_chunks()
            if not pa.types.is_dictionary(encoded.type):
                encoded = encoded.dictionary_encode()
            texts = [cell_text(text) for text in encoded.dictionary.to_pylist()]
            column = pa.DictionaryArray.from_arrays(encoded.indices, pa.array(texts, pa.string())).cast(pa.string())
        arrays.append(column)
    return pa.Table.from_arrays(arrays, schema=_plain(table.schema))
