"""docs/exports.md lists every column with its unit, and every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.model.factors import BY_NAME, COLUMNS
from orchestrator.exports import cell_columns, findings, samples
from orchestrator.exports.typed_table import Column
from orchestrator.exports.writers import FORMATS

PAGE = (Path(__file__).parents[3] / "docs" / "exports.md").read_text(encoding="utf-8")
TYPES = {"text": "text", "whole": "whole number", "number": "number", "yes/no": "true, false"}
BY_FACTOR = {*BY_NAME, *COLUMNS}

TABLES = {
    "## Columns: a row for each cell": [c for c in cell_columns.COLUMNS if c.name not in BY_FACTOR],
    "## Columns: a row for each sample": [c for c in samples.COLUMNS if c.name not in COLUMNS],
    "\nChecks:": findings.CHECK_COLUMNS,
    "\nFloors:": findings.FLOOR_COLUMNS,
    "\nComparisons,": findings.COMPARISON_COLUMNS,
    "\nSealed cells of": findings.SEALED_COLUMNS,
    "\nIntervals that a run waited for": findings.UNTIL_COLUMNS,
    "\nRuns,": findings.RUN_COLUMNS,
}


def row(column: Column) -> str:
    unit = f", {column.unit}" if column.unit else ""
    return f"| `{column.name}` | {TYPES[column.type]}{unit} | {column.meaning} |"


@pytest.mark.parametrize("begin", TABLES)
def test_a_table_has_a_row_for_each_column_and_no_other(begin: str) -> None:
    rows = PAGE.partition(f"{begin}")[2].partition("| column | type, unit | meaning |\n| --- | --- | --- |\n")[2]
    shown = rows.partition("\n\n")[0].splitlines()
    assert shown == [row(column) for column in TABLES[begin]]


def test_every_format_is_there_and_every_column_that_a_factor_has_in_samples() -> None:
    assert [name for name in FORMATS if f"| `{name}` |" not in PAGE] == []
    assert [name for name in COLUMNS if f"`{name}`" not in PAGE] == []
