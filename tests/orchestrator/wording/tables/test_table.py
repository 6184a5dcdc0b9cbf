"""Tables as data."""

from __future__ import annotations

import pytest

from orchestrator.wording.tables.table import Column, Entry, Row, Table, leading, notes


def a_table(rows: int, *notes_: str) -> Table:
    row = Row(label="grpc", detail="", kind="stack", series="grpc", entries=(Entry(text="1"),))
    return Table(title="add", unit="ms", columns=(Column(head="local"),), rows=(row,) * rows, notes=notes_)


@pytest.mark.parametrize(("most", "shown"), [(1, 1), (4, 1), (5, 2), (8, 2), (9, 3), (100, 3)])
def test_the_first_tables_have_no_more_rows_than_there_is_room_for_and_one_is_always_shown(
    most: int, shown: int
) -> None:
    tables = (a_table(3), a_table(2), a_table(4))
    assert leading(tables, most) == tables[:shown]
    assert leading((), most) == ()


def test_a_note_of_several_tables_is_there_once() -> None:
    assert notes((a_table(1, "a", "b"), a_table(1, "b", "c"))) == ("a", "b", "c")
