"""The first part: what stands in it, and how much of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.report import render
from orchestrator.report.groups import groups
from orchestrator.report.view import MOST_ROWS, short
from tests.support.pages import Document
from tests.support.summaries import a_run


def many(settings: int, stacks: int = 2):
    """A run of so many loads."""
    run = a_run(stacks=stacks)
    cells = tuple(
        replace(cell, id=f"{cell.id}-{number}", load=f"1,000 requests, {number + 1} in flight")
        for number in range(settings)
        for cell in run.cells
    )
    comparisons = tuple(
        replace(row, cell=f"{row.cell}-{number}", reference_cell=f"{row.reference_cell}-{number}")
        for number in range(settings)
        for row in run.comparisons
    )
    return replace(run, cells=cells, comparisons=comparisons)


def test_of_one_setting_every_cell_and_floor_is_listed():
    found = short(groups(a_run()))
    assert len(found.listed) == 1
    assert found.has_floors
    assert not found.rows


@pytest.mark.parametrize(("settings", "rows", "left_out"), [(8, 0, 0), (9, 9, 0), (40, MOST_ROWS, 40 - MOST_ROWS)])
def test_of_many_settings_there_is_a_row_for_each_as_long_as_they_fit(settings, rows, left_out):
    found = short(groups(many(settings)))
    assert (len(found.rows), found.left_out) == (rows, left_out)
    assert all(cell is not None for row in found.rows for cell in row.cells)


def test_what_does_not_fit_is_said():
    document = Document(render(many(27)))
    assert "3 more settings in" in document.text
    table = next(table for table in document.tables if table.caption.startswith("Medians of each setting"))
    assert len(table.rows) == 1 + MOST_ROWS
    assert "#table-g1" in {element.attributes["href"] for element in document.all("a")}
    ids = {element.attributes["id"] for element in document.elements if "id" in element.attributes}
    assert {e.attributes["href"].removeprefix("#") for e in document.all("a")} <= ids


def test_many_stacks_in_many_settings_show_the_first_settings():
    run = many(6)
    more = tuple(
        replace(cell, id=f"{cell.id}-{n}", stack=f"{cell.stack}-{n}", stack_label=f"{cell.stack_label} {n}")
        for n in range(5)
        for cell in run.cells
    )
    found = short(groups(replace(run, cells=more)))
    assert found.listed
    assert found.left_out == 6 - len(found.listed) > 0


def test_the_first_part_has_the_numbers_of_the_answer():
    run = a_run(stacks=3)
    document = Document(render(run))
    table = next(table for table in document.tables if table.caption.startswith("What the answer rests on"))
    for cell in run.cells:
        row = table.row(cell.stack_label)
        assert row["Median"].values == [cell.distribution.median, *cell.median_interval]
        assert row["p99"].values == [cell.distribution.p99]
        assert row["Req/s"].values == [cell.throughput_per_s]
    assert document.tables[0] is table


def test_a_picture_stands_once_in_the_page():
    for run in (a_run(stacks=3), a_run(stacks=2, placements=2, operations=2), many(9)):
        slugs = list(Document(render(run)).figures())
        assert len(slugs) == len(set(slugs))
