from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import quantities as w
from orchestrator.report import markup as q


@pytest.mark.parametrize(
    ("medians_ms", "name", "decimals"),
    [((0.04, 0.5), "µs", 1), ((0.04, 20.0), "ms", 3), ((35.0, 420.0), "ms", 2), ((5200.0,), "ms", 1), ((), "µs", 1)],
)
def test_a_table_has_the_unit_in_which_its_medians_are_easy_to_compare(medians_ms, name, decimals):
    unit = w.unit_for(medians_ms)

    assert (unit.name, unit.decimals) == (name, decimals)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(999.5, 1, "999.5"), (1234.5, 1, "1,234.5"), (1_580_000, 0, "1,580,000"), (0, 0, "0")],
)
def test_digits_are_grouped_as_in_the_terminal(value, decimals, text):
    assert w.number(value, decimals) == text


@pytest.mark.parametrize(
    ("count", "text"), [(8, "8 B"), (8.5, "8.5 B"), (15_800, "15.80 kB"), (1_580_000, "1.58 MB"), (2e9, "2.00 GB")]
)
def test_sizes_are_decimal(count, text):
    assert w.size(count) == text


def test_what_is_unknown_is_a_dash_and_not_a_zero():
    assert q.DASH in q.exact(None, "")
    assert "<data" not in q.exact(None, "")
    assert "<data" in q.exact(0.0, "0")


@given(st.floats(min_value=0, max_value=1e6, allow_nan=False))
def test_the_markup_keeps_the_unrounded_value(milliseconds):
    markup = q.exact(milliseconds, w.MICROSECONDS.text(milliseconds))

    assert float(markup.split('value="')[1].split('"')[0]) == milliseconds


@given(st.floats(min_value=1e-6, max_value=1e9))
def test_what_charts_draw_is_within_a_pixel_of_the_value(value):
    assert abs(w.significant(value) / value - 1) < 1e-4


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0123456789, "0.012346"),
        (12345.678, "12,346"),
        (7, "7"),
        (True, "yes"),
        (None, "—"),
        ({}, "—"),
        ({"p": "1.0", "q": [1, 2]}, "p 1.0, q 1, 2"),
        (float("inf"), "inf"),
        ("text", "text"),
    ],
)
def test_evidence_and_settings_read_as_text(value, text):
    assert q.words(value) == text


@pytest.mark.parametrize("stamp", ["2026-11-21T02:55:00+00:00", "2026-11-21T02:55:00Z"])
def test_a_moment_says_its_zone(stamp):
    assert q.moment(stamp) == "2026-11-21 02:55:00 UTC"
