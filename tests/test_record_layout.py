"""The record's layout stands once on each side of the language boundary, and both are what the contract says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from orchestrator import record_layout
from orchestrator.results.convert import read_record
from services.python.load import record

PAGE = (Path(__file__).parent.parent / "protos" / "timings.md").read_text(encoding="utf-8")


def table(head: str) -> list[str]:
    """The second column of the table whose first column has this head; rows must be numbered from 0."""
    lines = PAGE.split(f"\n| {head} |", 1)[1].splitlines()[2:]
    cells = [re.split(r"\s*\|\s*", line.strip("| ")) for line in lines[: lines.index("")]]
    assert [cell[0] for cell in cells] == [str(number) for number in range(len(cells))]
    return [cell[1] for cell in cells]


@pytest.mark.parametrize(
    ("head", "ours", "theirs"),
    [
        ("column", record.COLUMNS, record_layout.COLUMNS),
        ("kind", record.KINDS, record_layout.KINDS),
        ("sender_clock", record.CLOCKS, record_layout.CLOCKS),
    ],
)
def test_names_are_those_of_the_page_on_both_sides(head: str, ours: Sequence[str], theirs: Sequence[str]) -> None:
    assert list(ours) == list(theirs) == table(head)


def test_sizes_are_those_of_the_page_on_both_sides() -> None:
    header, row = re.search(r"a header of (\d+) bytes, then rows of (\d+)\s+bytes", PAGE).groups()
    version = re.search(r"This is version (\d+)\.", PAGE)[1]
    said = (int(version), int(header), int(row))
    assert said == (record.VERSION, record.HEADER_BYTES, record.ROW_BYTES)
    assert said == (record_layout.VERSION, record_layout.HEADER_BYTES, record_layout.ROW.size)
    assert f"the magic bytes `{record.MAGIC.decode()}`" in PAGE
    assert record.MAGIC == record_layout.MAGIC


def test_a_row_has_the_columns_of_the_layout() -> None:
    assert record.Row._fields == record.COLUMNS


def test_what_a_requester_writes_the_orchestrator_reads(tmp_path: Path) -> None:
    rows = [record.Row._make([*range(n, n + 10), 0, 0, n + 12, 2]) for n in (1, 100, 10_000)]
    with record.Record(tmp_path / "r", 5) as written:
        for row in rows:
            written.append_row(row)
        assert read_record(tmp_path / "r").tolist() == [list(row) for row in rows]  # with room behind them
    assert read_record(tmp_path / "r").tolist() == [list(row) for row in rows]
