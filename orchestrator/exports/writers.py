"""The formats of an export, and what writes each; Excel's is `excel`.

CSV is UTF-8, a comma between values, text in quotes, an empty field where there is no value. JSON is strict (no NaN, no
infinity), and says what its columns mean. Parquet is a file of cells, or a dataset of samples in partitions by run and
cell, as Hive lays them out. Markdown has each run's summary.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from orchestrator.disk import output
from orchestrator.errors import UsageError, did_you_mean
from orchestrator.exports import cell_columns, excel, samples
from orchestrator.exports.cell_columns import JudgedRun
from orchestrator.exports.samples import Piece
from orchestrator.exports.targets import ABOUT, AGAIN, exported_folder
from orchestrator.exports.typed_table import Column, arrow, schema
from orchestrator.report.markdown import markdown

SCHEMA_VERSION = 2


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format: `write` writes runs to a path, whole or not at all, each cell or sample a row; it returns how many rows.

    MissingError for what the disk refuses, UsageError for more than the format holds, InvalidMeasurement for a damaged run.
    """

    name: str
    suffix: str
    write: Callable[[Sequence[JudgedRun], Path, bool], int]
    has_samples: bool = True
    is_dataset: bool = False


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
    if raw and not form.has_samples:
        several = " | ".join(each.name for each in FORMATS.values() if each.has_samples)
        raise UsageError(f"{form.name} holds no row for each sample", hint=f"--raw --format {several}")
    return form


def _pieces(runs: Sequence[JudgedRun], raw: bool) -> Iterator[tuple[JudgedRun, Piece]]:
    for run in runs:
        for piece in samples.pieces(run.folder, run.summary) if raw else _cells(run):
            yield run, piece


def _cells(run: JudgedRun) -> Iterator[Piece]:
    for row in cell_columns.cell_rows(run.summary):
        yield Piece(cell=str(row["cell"]), protocol=str(row["protocol"]), table=arrow(cell_columns.COLUMNS, [row]))


def _csv(runs: Sequence[JudgedRun], path: Path, raw: bool) -> int:
    import pyarrow.csv

    count, columns = 0, schema(samples.COLUMNS if raw else cell_columns.COLUMNS)
    with (
        output(path, AGAIN) as partial,
        partial.open("wb") as file,
        pyarrow.csv.CSVWriter(file, columns) as writer,
    ):
        for _, piece in _pieces(runs, raw):
            writer.write_table(piece.table.cast(columns))
            count += piece.table.num_rows
    return count


def _json(runs: Sequence[JudgedRun], path: Path, raw: bool) -> int:  # noqa: ARG001 - it holds no samples
    """`columns`, `runs`, `cells`: each a list of objects."""
    rows = [row for run in runs for row in cell_columns.cell_rows(run.summary)]
    document = {**_about("summary", cell_columns.COLUMNS, runs), "cells": rows}
    with output(path, AGAIN) as partial:
        partial.write_text(_json_text(document), encoding="utf-8")
    return len(rows)


def _about(what: str, columns: Sequence[Column], runs: Sequence[JudgedRun]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "export": what,
        "columns": [column.to_dict() for column in columns],
        "runs": [run.about() for run in runs],
    }


def _json_text(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _parquet(runs: Sequence[JudgedRun], path: Path, raw: bool) -> int:
    """A dataset of samples, or one file of cells; its metadata `orch_runs` says what the runs' checks found."""
    import pyarrow.parquet as pq

    if raw:
        return _dataset(runs, path)
    rows = [row for run in runs for row in cell_columns.cell_rows(run.summary)]
    about = json.dumps([run.about() for run in runs], allow_nan=False)
    table = arrow(cell_columns.COLUMNS, rows).replace_schema_metadata({"orch_runs": about})
    with output(path, AGAIN) as partial, partial.open("wb") as file:
        pq.write_table(table, file, compression="zstd")
    return len(rows)


def _dataset(runs: Sequence[JudgedRun], path: Path) -> int:
    """A folder `run=<id>/cell=<id>/part-<number>.parquet`, a file for each samples file.

    Run and cell are the partitions, and no columns of the files. What the runs' checks found is in `_orch_export.json`.
    """
    import pyarrow.parquet as pq

    count, parts = 0, Counter[Path]()
    with exported_folder(path) as partial:
        for run, piece in _pieces(runs, raw=True):
            folder = partial / f"run={quote(run.summary.run.id, safe='')}" / f"cell={quote(piece.cell, safe='')}"
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / f"part-{parts[folder]:05}.parquet").open("wb") as file:
                texts = [c.name for c in samples.COLUMNS if c.type == "text"]
                pq.write_table(
                    piece.table.drop_columns(["run", "cell"]), file, compression="zstd", use_dictionary=texts
                )
            parts[folder] += 1
            count += piece.table.num_rows
        run_columns = [column.to_dict() for column in cell_columns.RUN_COLUMNS]
        document = {**_about("raw", samples.COLUMNS, runs), "run_columns": run_columns}
        (partial / ABOUT).write_text(_json_text(document), encoding="utf-8")
    return count


def _excel(runs: Sequence[JudgedRun], path: Path, raw: bool) -> int:
    columns = samples.COLUMNS if raw else cell_columns.COLUMNS
    return excel.write(runs, path, columns, (piece for _, piece in _pieces(runs, raw)))


def _markdown(runs: Sequence[JudgedRun], path: Path, raw: bool) -> int:  # noqa: ARG001 - it holds no samples
    with output(path, AGAIN) as partial:
        partial.write_text("\n".join(markdown(run.summary) for run in runs), encoding="utf-8")
    return sum(len(run.summary.cells) for run in runs)


FORMATS: Mapping[str, Format] = {
    form.name: form
    for form in (
        Format(name="csv", suffix=".csv", write=_csv),
        Format(name="json", suffix=".json", write=_json, has_samples=False),
        Format(name="excel", suffix=".xlsx", write=_excel),
        Format(name="parquet", suffix=".parquet", write=_parquet, is_dataset=True),
        Format(name="markdown", suffix=".md", write=_markdown, has_samples=False),
    )
}
