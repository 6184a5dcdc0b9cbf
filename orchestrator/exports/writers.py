"""The formats of an export, and what writes each; Excel's is `excel`.

CSV is UTF-8, a comma between values, text in quotes, an empty field where there is no value; text that a spreadsheet might
run follows an apostrophe. JSON is strict (no NaN, no infinity), and says what its columns mean. Parquet is a file of
cells, or a dataset of samples in partitions by run and cell, as Hive lays them out. Markdown has each run's summary, HTML
is a run's report.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from orchestrator.errors import UsageError, did_you_mean
from orchestrator.exports import cell_columns, excel, findings, samples
from orchestrator.exports.findings import JudgedRun
from orchestrator.exports.targets import ABOUT, exported_folder
from orchestrator.exports.typed_table import Column, Table
from orchestrator.results.outputs import output

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 1
_PARTITIONS = ("run", "cell")
# What a spreadsheet takes for the beginning of a formula, in their wide forms too, and what may hide one (OWASP).
_FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"
_HIDING = "\t\r\n"

Write = Callable[[Sequence[JudgedRun], Path], int]


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format and its writers: of a row for each cell, and of one for each sample where the format holds those.

    A writer writes the runs to a path, whole or not at all, and returns how many rows that are. MissingError for what the
    disk refuses, UsageError for more than the format holds, InvalidMeasurement for a damaged run.
    """

    name: str
    suffix: str
    write_cells: Write
    write_samples: Write | None = None
    is_dataset: bool = False

    def write(self, runs: Sequence[JudgedRun], path: Path, *, raw: bool) -> int:
        """Write cells, or samples if `raw`; errors as above."""
        write = self.write_samples if raw else self.write_cells
        assert write is not None, "refused by `chosen`"  # noqa: S101 - of ours
        return write(runs, path)


def chosen(name: str | None, out: Path | None, *, raw: bool) -> Format:
    """The format of that name, or else of the file's suffix; UsageError when there is none, or it holds no samples."""
    form = FORMATS.get(name or "")
    if name is None and out is not None:
        form = next((each for each in FORMATS.values() if each.suffix == out.suffix.lower()), None)
    if form is None:
        if name is None:
            unknown = "say in which format" if out is None else f"the name {out} does not say in which format"
            raise UsageError(unknown, hint=f"--format {' | '.join(FORMATS)}")
        by_suffix = next((each.name for each in FORMATS.values() if each.suffix == f".{name.lower()}"), None)
        hint = did_you_mean(name, FORMATS) if by_suffix is None else f"Did you mean {by_suffix}?"
        raise UsageError(f"no format {name!r}", hint=hint)
    if raw and form.write_samples is None:
        several = " | ".join(each.name for each in FORMATS.values() if each.write_samples)
        raise UsageError(f"{form.name} holds no row for each sample", hint=f"--raw --format {several}")
    return form


def _cells(runs: Sequence[JudgedRun]) -> Table:
    return Table(cell_columns.COLUMNS, tuple(row for run in runs for row in run.cells()))


def _pieces(runs: Sequence[JudgedRun]) -> Iterator[tuple[JudgedRun, samples.Piece]]:
    for run in runs:
        for piece in samples.pieces(run.folder, run.summary):
            yield run, piece


def _csv_cells(runs: Sequence[JudgedRun], path: Path) -> int:
    import pyarrow.csv

    table = _cells(runs)
    with output(path, "--out", "export again") as partial, partial.open("wb") as file:
        pyarrow.csv.write_csv(_harmless(table.arrow()), file)
    return len(table.rows)


def _csv_samples(runs: Sequence[JudgedRun], path: Path) -> int:
    import pyarrow.csv

    count = 0
    with (
        output(path, "--out", "export again") as partial,
        partial.open("wb") as file,
        pyarrow.csv.CSVWriter(file, _plain(samples.schema())) as writer,
    ):
        for _, piece in _pieces(runs):
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


def cell_text(text: str) -> str:
    r"""Text as a cell of a CSV file: behind an apostrophe where a spreadsheet might run it.

    >>> cell_text('=HYPERLINK("x")'), cell_text("grpc")
    ('\'=HYPERLINK("x")', 'grpc')
    """
    is_risky = text[:1] in _HIDING or text.lstrip()[:1] in _FORMULA
    return f"'{text}" if text and text.strip() and is_risky else text


def _json_cells(runs: Sequence[JudgedRun], path: Path) -> int:
    """`columns`, `runs`, `cells`, `comparisons`, `sealed`, `until`; all but the first as lists of objects."""
    rows = _cells(runs).rows
    document = {
        **_about("summary", cell_columns.COLUMNS, runs),
        "cells": rows,
        "comparisons": [row for run in runs for row in run.comparisons()],
        "sealed": [row for run in runs for row in findings.sealed_table(run.summary).rows],
        "until": [row for run in runs for row in findings.until_table(run.summary).rows],
    }
    with output(path, "--out", "export again") as partial:
        partial.write_text(_json_text(document) + "\n", encoding="utf-8")
    return len(rows)


def _json_samples(runs: Sequence[JudgedRun], path: Path) -> int:
    """`columns`, `runs` and `rows`: each row a list of values in the order of the columns."""
    head = _json_text(_about("raw", samples.COLUMNS, runs))
    count = 0
    with output(path, "--out", "export again") as partial, partial.open("w", encoding="utf-8") as file:
        file.write(head.removesuffix("\n}") + ',\n "rows": [')
        for _, piece in _pieces(runs):
            for row in piece.rows():
                file.write(",\n" if count else "\n")
                file.write(json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
                count += 1
        file.write("\n ]\n}\n")
    return count


def _about(what: str, columns: Sequence[Column], runs: Sequence[JudgedRun]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "export": what,
        "columns": [column.to_dict() for column in columns],
        "runs": [run.about() for run in runs],
    }


def _json_text(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)


def _parquet_cells(runs: Sequence[JudgedRun], path: Path) -> int:
    """One file; its metadata `orch_runs` says what the runs' checks found."""
    import pyarrow.parquet as pq

    table = _cells(runs)
    about = json.dumps([run.about() for run in runs], allow_nan=False)
    with (
        output(path, "--out", "export again") as partial,
        partial.open("wb") as file,
    ):
        pq.write_table(table.arrow().replace_schema_metadata({"orch_runs": about}), file, compression="zstd")
    return len(table.rows)


def _parquet_samples(runs: Sequence[JudgedRun], path: Path) -> int:
    """A folder `run=<id>/cell=<id>/part-<number>.parquet`, a file for each samples file.

    Run and cell are the partitions, and no columns of the files. What the runs' checks found is in `_orch_export.json`.
    """
    import pyarrow.parquet as pq

    count, parts = 0, Counter[Path]()
    with exported_folder(path) as partial:
        for run, piece in _pieces(runs):
            folder = partial / f"run={quote(run.summary.run_id, safe='')}" / f"cell={quote(piece.cell, safe='')}"
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / f"part-{parts[folder]:05}.parquet").open("wb") as file:
                pq.write_table(
                    piece.table.drop_columns(list(_PARTITIONS)),
                    file,
                    compression="zstd",
                    use_dictionary=[c.name for c in samples.COLUMNS if c.type == "text"],
                )
            parts[folder] += 1
            count += piece.table.num_rows
        run_columns = [column.to_dict() for column in findings.RUN_COLUMNS]
        document = {**_about("raw", samples.COLUMNS, runs), "run_columns": run_columns}
        (partial / ABOUT).write_text(_json_text(document) + "\n", encoding="utf-8")
    return count


def _markdown_cells(runs: Sequence[JudgedRun], path: Path) -> int:
    """The summary of each run, as `orch report --markdown` writes it."""
    from orchestrator.report.markdown import markdown

    with output(path, "--out", "export again") as partial:
        partial.write_text("\n".join(markdown(run.summary) for run in runs), encoding="utf-8")
    return len(_cells(runs).rows)


def _html_cells(runs: Sequence[JudgedRun], path: Path) -> int:
    """The report of a run; UsageError for several."""
    from orchestrator.report import write_report  # which imports Plotly

    if len(runs) > 1:
        raise UsageError("an HTML file is the report of one run", hint="`orch report RUN...` writes one for each")
    write_report(runs[0].summary, path)
    return len(runs[0].summary.cells)


FORMATS: Mapping[str, Format] = {
    form.name: form
    for form in (
        Format(name="csv", suffix=".csv", write_cells=_csv_cells, write_samples=_csv_samples),
        Format(name="json", suffix=".json", write_cells=_json_cells, write_samples=_json_samples),
        Format(name="excel", suffix=".xlsx", write_cells=excel.write_cells, write_samples=excel.write_samples),
        Format(name="html", suffix=".html", write_cells=_html_cells),
        Format(
            name="parquet",
            suffix=".parquet",
            write_cells=_parquet_cells,
            write_samples=_parquet_samples,
            is_dataset=True,
        ),
        Format(name="markdown", suffix=".md", write_cells=_markdown_cells),
    )
}
