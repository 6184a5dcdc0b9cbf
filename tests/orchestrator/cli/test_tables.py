"""Tables for a terminal, and a table of a result as lines of one."""

from __future__ import annotations

import pytest

from orchestrator.cli.answer import table_lines
from orchestrator.cli.tables import table
from orchestrator.wording.tables.table import Column, Entry, Row, Table


def test_columns_are_as_wide_as_their_widest_text_and_lines_end_where_their_text_does() -> None:
    assert list(table(("a", "bb"), [("long", ""), ("x", "y")])) == ["a     bb", "long", "x     y"]
    assert list(table(("a", "b"), [])) == ["a  b"]


def test_a_cell_without_room_goes_on_in_the_next_line() -> None:
    lines = table(("name", "text"), [("a", "one two three"), ("b", "x")], columns=14)
    assert lines == ["name  text", "a     one two", "      three", "b     x"]


def test_what_a_terminal_acts_on_is_shown_and_brackets_are_no_markup() -> None:
    assert table(("", ""), [("[bold]a\x1b[0m", "b\nc")]) == [r"[bold]a\x1b[0m  b\nc"]


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
