"""JSON: one strict document (no NaN, no infinity), which says of itself what its columns mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orchestrator.exports import cells, findings, samples
from orchestrator.exports.column import Column
from orchestrator.exports.judged_run import JudgedRun
from orchestrator.exports.targets import exported_file

SCHEMA_VERSION = 1
_ROWS_AT_ONCE = 1 << 14


def write_summary(runs: Sequence[JudgedRun], path: Path) -> int:
    """`columns`, `runs`, `cells`, `comparisons`, `sealed`, `until`; all but the first as lists of objects.

    How many cells there are.
    """
    rows = [row for run in runs for row in run.cells()]
    document = {
        **_about("summary", cells.COLUMNS, runs),
        "cells": rows,
        "comparisons": [row for run in runs for row in run.comparisons()],
        "sealed": [row for run in runs for row in findings.sealed_rows(run.summary)],
        "until": [row for run in runs for row in findings.until_rows(run.summary)],
    }
    with exported_file(path) as partial:
        partial.write_text(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    return len(rows)


def write_raw(runs: Sequence[JudgedRun], path: Path) -> int:
    """`columns`, `runs` and `rows`: each row a list of values in the order of the columns. How many rows there are."""
    head = json.dumps(_about("raw", samples.COLUMNS, runs), indent=1, ensure_ascii=False, allow_nan=False)
    count = 0
    with exported_file(path) as partial, partial.open("w", encoding="utf-8") as file:
        file.write(head.removesuffix("\n}") + ',\n "rows": [')
        for run in runs:
            for piece in samples.pieces(run.folder, run.summary):
                for batch in piece.table.to_batches(max_chunksize=_ROWS_AT_ONCE):
                    for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
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


def about_dataset(runs: Sequence[JudgedRun]) -> dict[str, Any]:
    """What lies beside a dataset of samples: its columns, and which runs it holds, with their checks."""
    return {**_about("raw", samples.COLUMNS, runs), "run_columns": [c.to_dict() for c in findings.RUN_COLUMNS]}
