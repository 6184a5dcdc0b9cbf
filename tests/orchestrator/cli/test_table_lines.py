"""A table as lines of a terminal."""

from __future__ import annotations

import pytest

from orchestrator.cli.table_lines import table_lines
from orchestrator.wording.tables.table import Column, Entry, Row, Table


def a_table(columns: int) -> Table:
    def row(label: str) -> Row:
        entries = tuple(
            Entry(text=f"{label}{n}", detail=f"{n} to {n}", flags=("invalid",) * (n == 1)) for n in range(columns)
        )
        return Row(label=label, detail=f"of {label}", kind="stack", series=label, entries=entries)

    heads = tuple(Column(head=f"head{n}", detail="35 ms" * (n == 1)) for n in range(columns))
    return Table(title="add", unit="ms", columns=heads, rows=(row("grpc"), row("rest")))


def test_a_row_has_two_lines_below_a_head_of_two() -> None:
    assert list(table_lines(a_table(2), 100)) == [
        "add, ms",
        "              head0            head1",
        "                               35 ms",
        "  grpc        grpc0            grpc1",
        "    of grpc  0 to 0  1 to 1, invalid",
        "  rest        rest0            rest1",
        "    of rest  0 to 0  1 to 1, invalid",
    ]


@pytest.mark.parametrize("width", [30, 40, 60, 100])
def test_columns_without_room_follow_in_another_part_and_none_is_lost(width: int) -> None:
    lines = list(table_lines(a_table(12), width))
    assert max(map(len, lines)) <= max(width, 36)
    assert [word for line in lines for word in line.split() if word.startswith("head")] == [
        f"head{n}" for n in range(12)
    ]
    assert sorted(word for line in lines for word in line.split() if word[:4] == "rest" and word[4:]) == sorted(
        f"rest{n}" for n in range(12)
    )
