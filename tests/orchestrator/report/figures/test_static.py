"""Pictures without a script: every row has its dot where its value is, and texts are escaped."""

from __future__ import annotations

import re

import pytest

from orchestrator.report.figures import static
from orchestrator.report.figures.static import Dot

DOTS = (
    Dot(label="ws", value=100.0, interval=(90.0, 110.0), tail=300.0, text="100 µs", difference="−50 %"),
    Dot(label="<b>rest", value=200.0, text="200 µs", difference="reference"),
    Dot(label="soap", value=400.0),
)


def places(picture: str) -> list[float]:
    return [float(text) for text in re.findall(r'cx="([\d.]+)%"', picture)]


@pytest.mark.parametrize("draw", [static.chart, static.thumbnail])
def test_dots_lie_evenly_apart_where_each_value_is_twice_the_one_before(draw) -> None:
    first, second, third = places(draw(DOTS, "Latency"))
    assert second - first == pytest.approx(third - second, abs=0.11)
    assert 0 < first < third < 100


def test_a_chart_says_what_each_row_is_and_a_thumbnail_has_no_texts() -> None:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", static.chart(DOTS, "Latency", floor=50.0))
    assert {"ws", "&lt;b&gt;rest", "100 µs", "−50 %", "reference"} <= set(texts)
    assert "<text" not in static.thumbnail(DOTS, "Latency")
    assert static.thumbnail((), "Latency") == ""
