"""Tables for a terminal."""

from __future__ import annotations

from orchestrator.cli.tables import table


def test_columns_are_as_wide_as_their_widest_text_and_lines_end_where_their_text_does() -> None:
    assert list(table(("a", "bb"), [("long", ""), ("x", "y")])) == ["a     bb", "long", "x     y"]
    assert list(table(("a", "b"), [])) == ["a  b"]


def test_a_cell_without_room_goes_on_in_the_next_line() -> None:
    lines = table(("name", "text"), [("a", "one two three"), ("b", "x")], columns=14)
    assert lines == ["name  text", "a     one two", "      three", "b     x"]


def test_what_a_terminal_acts_on_is_shown_and_brackets_are_no_markup() -> None:
    assert table(("", ""), [("[bold]a\x1b[0m", "b\nc")]) == [r"[bold]a\x1b[0m  b\nc"]
