"""Tables for a terminal."""

from __future__ import annotations

import pytest

from orchestrator.cli.tables import table


def test_columns_are_as_wide_as_their_widest_text_and_lines_end_where_their_text_does() -> None:
    assert list(table(("a", "bb"), [("long", ""), ("x", "y")])) == ["a     bb", "long", "x     y"]
    assert list(table(("a", "b"), [])) == ["a  b"]


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        list(table(("a", "b"), [("only one",)]))
