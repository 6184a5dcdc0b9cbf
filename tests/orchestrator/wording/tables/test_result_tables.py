"""How tables write differences, and when they say that these are paired."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.wording.phrasing import change, change_span
from orchestrator.wording.tables.result_tables import tables
from tests.support.concluded import setting, summary

PAIRED = "Differences are paired by block, so they are not the ratio of the medians shown."


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.46, "−54 %"), (1.003, "+0.3 %"), (2.9, "+190 %"), (4.24, "4.2×"), (12.1, "12×")]
)
def test_a_change_is_a_factor_from_threefold_on(ratio: float, text: str) -> None:
    assert change(ratio) == text


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        ((0.42, 0.52), "−58 to −48 %"),
        ((0.64, 9.4), "−36 to +840 %"),
        ((1.65, 13.0), "1.6 to 13×"),
        ((9.1, 9.6), "9.1 to 9.6×"),
    ],
)
def test_both_bounds_of_an_interval_have_one_unit(interval: tuple[float, float], text: str) -> None:
    assert change_span(interval) == text


@pytest.mark.parametrize(("paired", "notes"), [(1.5, ()), (1.4, (PAIRED,))])
def test_a_table_says_where_differences_are_not_the_ratio_of_its_medians(paired: float, notes: tuple[str, ...]) -> None:
    cells, rows = setting({"a": 1.0, "b": 1.5})
    (table,) = tables(summary((cells, [replace(rows[0], ratio=paired)])))
    assert table.notes == notes
