"""Still pictures hold what the figures hold, and nothing that a text of an experiment could add."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from orchestrator.report.figures.base import axis, figure, logarithmic, row_axis
from orchestrator.report.figures.distribution import ecdf, percentile_curve
from orchestrator.report.figures.first import first_request
from orchestrator.report.figures.floor import floor_bars
from orchestrator.report.figures.forest import forest
from orchestrator.report.figures.timings import time_strip
from orchestrator.report.groups import groups, stack_colours
from orchestrator.report.static.drawing import WIDTH_PX
from orchestrator.report.static.scales import line, ticks
from tests.support.drawings import parsed, texts
from tests.support.summaries import a_run

RUN = a_run(stacks=3)
(GROUP,) = groups(RUN)
COLOURS = stack_colours(RUN)
FIGURES = {
    "forest": forest("f", GROUP.title, GROUP.compared_by("median"), COLOURS, 0.05),
    "floor": floor_bars(GROUP, COLOURS),
    "ecdf": ecdf(GROUP, COLOURS),
    "percentiles": percentile_curve(GROUP, COLOURS),
    "first": first_request(GROUP, COLOURS),
    "strip": time_strip(GROUP.cells[0], GROUP, COLOURS),
}
ALL = pytest.mark.parametrize("name", list(FIGURES))


@ALL
def test_a_picture_is_well_formed_and_says_what_it_shows(name):
    found = parsed(FIGURES[name].drawing)
    assert found.get("role") == "img"
    ids = found.get("aria-labelledby").split()
    assert [found.find(tag).get("id") for tag in ("title", "desc")] == ids
    assert found.find("title").text == FIGURES[name].label
    assert found.find("desc").text


@ALL
def test_its_colours_are_the_pages_so_that_it_follows_the_theme(name):
    drawing = FIGURES[name].drawing
    used = re.findall(r"(?:fill|stroke)=\"([^\"]+)\"", drawing)
    assert used
    assert all(colour == "none" or colour.startswith(("var(--", "url(#")) for colour in used)
    assert "style=" not in drawing


@ALL
def test_every_text_stands_within_the_picture(name):
    found = parsed(FIGURES[name].drawing)
    high = float(found.get("viewBox").split()[3])
    for text in found.iter("text"):
        assert 0 <= float(text.get("x")) <= WIDTH_PX
        assert 8 <= float(text.get("y")) <= high


def test_a_row_has_its_label_and_what_was_found_above_its_marks():
    said = texts(FIGURES["forest"].drawing)
    for row in GROUP.compared_by("median"):
        assert row.stack_label in said
        assert any(text.endswith(f"× {row.standing}") for text in said)


def test_bars_have_their_values():
    said = texts(FIGURES["floor"].drawing)
    for cell in GROUP.cells:
        assert GROUP.unit.text(cell.distribution.median) in said


def test_lines_have_their_names_and_a_script_can_tell_them_apart():
    for name in ("ecdf", "percentiles"):
        said = " ".join(texts(FIGURES[name].drawing))
        assert all(word in said for cell in GROUP.cells for word in cell.stack_label.split())
        series = re.findall(r"data-series=\"([^\"]+)\"", FIGURES[name].drawing)
        assert sorted(series) == sorted(["ping", "tcp", *(str(COLOURS[cell.stack]) for cell in GROUP.cells)])


@pytest.mark.parametrize("name", ["forest", "floor", "ecdf", "percentiles", "first", "strip"])
def test_every_axis_of_latencies_says_where_better_is(name):
    assert any("better" in text for text in texts(FIGURES[name].drawing))


def test_an_experiments_text_stays_text():
    hostile = "</text></svg><script>alert(1)</script>"
    rows = [replace(row, stack_label=hostile) for row in GROUP.compared_by("median")]
    drawing = forest("f", hostile, rows, COLOURS, 0.05).drawing
    assert "<script" not in drawing
    assert parsed(drawing).find("desc").text.startswith(hostile)


def test_a_place_on_a_logarithmic_axis():
    scale = line(logarithmic("", 1, 100), [], 0, 200)
    assert [scale.place(value) for value in (1, 10, 100, 0.001, 1e6)] == pytest.approx([0, 100, 200, 0, 200])


def test_ticks_that_would_touch_are_left_out():
    named = axis("", range=[0, 10], tickvals=[0, 0.1, 10], ticktext=["nothing", "a little", "all"])
    assert [text for _, text in ticks(named, line(named, [], 0, 300))] == ["nothing", "all"]


def test_a_picture_without_anything_in_it_is_one_even_so():
    assert parsed(figure("a", "Nothing.", [], {"yaxis": axis("x")}, 100).drawing).find("title").text == "Nothing."


def test_a_long_label_takes_more_lines_and_hides_nothing():
    labels = ["a label " * 20, "short"]
    drawing = figure("a", "b", [], {"yaxis": row_axis(labels), "xaxis": axis("x", range=[0, 1])}, 100).drawing
    said = [text for text in texts(drawing) if "label" in text]
    assert len(said) > 2
    assert " ".join(said).split() == labels[0].split()
