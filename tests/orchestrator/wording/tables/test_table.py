"""Tables as data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.findings.summary import Floors, RunSummary
from orchestrator.wording.tables.axis_tables import tables
from orchestrator.wording.tables.table import Column, Entry, Row, Table, leading, notes
from tests.support.concluded import cell_of, check, far, setting, summary
from tests.support.findings import counted
from tests.support.summaries import a_run


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


def distances(**more: float) -> RunSummary:
    near, away = (setting({"rest": 0.3, "grpc": 0.2}, placement=where) for where in ("local", "far"))
    cells = [replace(cell, floors=Floors(ping=0.04)) for cell in away[0]]
    return summary(near, (cells, away[1]), plan=far(35.0), **more)


def test_an_operation_has_one_table_of_stacks_then_floors() -> None:
    run = a_run(stacks=3, placements=2, operations=2)
    both = tables(run)
    assert len(both) == 2
    for table, operation in zip(both, ("add", "image 1.58 MB"), strict=True):
        assert [column.head for column in table.columns] == ["local", "cross-region"]
        assert [(row.kind, row.label) for row in table.rows] == [
            *(("stack", cell.labels.stack) for cell in run.cells[:3]),
            ("floor", "tcp"),
            ("floor", "ping"),
        ]
        for row in table.rows[:3]:
            cells = [cell for cell in run.cells if (cell.labels.operation, cell.stack) == (operation, row.series)]
            assert [entry.value for entry in row.entries] == [cell.distribution.median for cell in cells]  # type: ignore[union-attr]


def test_a_distance_has_multiples_of_the_round_trip_that_was_measured() -> None:
    rest = tables(distances())[0].rows[0]
    assert [entry.detail.endswith(" RTT") for entry in rest.entries] == [False, True]
    assert rest.entries[1].detail.split(", ")[1] == "7.5 RTT"


def test_a_way_to_call_is_in_the_title_where_all_share_it_and_else_in_the_rows() -> None:
    (shared,) = tables(summary(*(setting({"rest": 0.3, "grpc": 0.2}, concurrency=n) for n in (1, 4))))
    assert "keep-alive" in shared.title
    assert not any("keep-alive" in row.detail for row in shared.rows)
    cells = [
        cell_of(stack, 0.3, connection=way, concurrency=n)
        for n in (1, 4)
        for stack, way in (("grpc", "reuse"), ("rest", "per-request"))
    ]
    (apart,) = tables(summary((cells, ())))
    assert "keep-alive" not in apart.title
    assert [row.detail.split(", ")[1] for row in apart.rows if row.kind == "stack"] == ["keep-alive", "new connections"]


def test_what_failed_is_flagged_and_what_is_missing_is_empty() -> None:
    first, second = (setting({"rest": 0.3, "grpc": 0.2}, concurrency=n) for n in (1, 4))
    lost = counted(first[0][1], errors={"timeout": 3})
    run = summary(([first[0][0], lost], first[1]), (second[0][:1], ()), checks=(check("reply", lost.id),))
    (table,) = tables(run)
    assert [entry.flags for entry in table.rows[0].entries] == [(), ()]
    assert table.rows[1].entries[0].flags == ("invalid", "3 errors")
    assert (table.rows[1].entries[1].text, table.rows[1].entries[1].value) == ("", None)


@pytest.mark.parametrize("median", [0.0412, 3.2, 71.46, 12_345.0])
def test_every_median_has_three_digits_in_the_unit_of_its_table(median: float) -> None:
    (table,) = tables(summary(*(setting({"rest": median}, concurrency=n) for n in (1, 4))))
    text = table.rows[0].entries[0].text.replace(",", "")
    per_ms = {"µs": 1000.0, "ms": 1.0}[table.unit]
    assert float(text) == pytest.approx(median * per_ms, rel=0.005)
    assert len(text.replace(".", "").lstrip("0")) >= 3


def test_a_run_without_an_axis_has_none() -> None:
    assert tables(summary(setting({"rest": 0.3, "grpc": 0.2}))) == ()
