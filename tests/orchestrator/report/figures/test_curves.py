"""Curves: shared scales, names beside their lines, the line of no difference and its crossing."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.report.figures.curves import gap_curves, scales
from orchestrator.report.figures.labels import apart
from tests.support.curves import COLOURS, DISTANCE, SIZES


def drawn(figure):
    return json.loads(figure.document)


def gaps(curves):
    shared = scales(curves)
    return [drawn(gap_curves(f"g{n}", panel, shared, COLOURS)) for n, panel in enumerate(curves.panels)]


@pytest.mark.parametrize("curves", [DISTANCE, SIZES])
def test_all_panels_of_an_axis_have_the_same_scales(curves):
    layouts = [each["layout"] for each in gaps(curves)]
    assert len(layouts) == len(curves.panels)
    for axis in ("xaxis", "yaxis"):
        assert len({json.dumps(layout[axis], sort_keys=True) for layout in layouts}) == 1


def test_a_line_goes_through_its_points_with_their_intervals_in_the_unit_of_the_axis():
    shared = scales(DISTANCE)
    assert shared is not None
    for trace, gap in zip(gaps(DISTANCE)[0]["data"], DISTANCE.panels[0].gaps, strict=True):
        assert trace["x"] == pytest.approx([point.at for point in gap.points], rel=1e-4)
        assert trace["y"] == pytest.approx([point.difference * shared.unit.per_ms for point in gap.points], rel=1e-4)
        ends = [y + up for y, up in zip(trace["y"], trace["error_y"]["array"], strict=True)]
        assert ends == pytest.approx([point.interval[1] * shared.unit.per_ms for point in gap.points], rel=1e-3)


def test_a_logarithmic_axis_is_labelled_at_the_sizes_that_were_measured():
    layout = gaps(SIZES)[0]["layout"]
    assert layout["xaxis"]["type"] == "log"
    assert layout["xaxis"]["ticktext"] == ["100 B", "1 kB", "10 kB", "100 kB"]


def test_each_line_is_named_at_its_end_in_its_own_colour():
    figure = gaps(DISTANCE)[0]
    colours = {
        note["text"].rpartition("<br>")[0]: note["font"]["color"].replace("text-", "series-")
        for note in figure["layout"]["annotations"]
    }
    assert colours == {trace["name"].replace(" (", "<br>("): trace["line"]["color"] for trace in figure["data"]}
    assert len(set(colours.values())) == 1


def test_a_stack_has_one_colour_in_all_panels():
    colours = [{trace["name"]: trace["line"]["color"] for trace in figure["data"]} for figure in gaps(DISTANCE)]
    assert colours[0] == colours[1]


def test_the_line_of_no_difference_is_drawn_and_within_the_picture():
    layout = gaps(DISTANCE)[0]["layout"]
    assert any(shape["type"] == "line" and (shape["y0"], shape["y1"]) == (0, 0) for shape in layout["shapes"])
    low, high = layout["yaxis"]["range"]
    assert low < 0 < high


def test_a_crossing_is_a_line_and_its_interval_a_column():
    crossing = SIZES.panels[0].gaps[0].crossing
    assert crossing is not None
    shapes = gaps(SIZES)[0]["layout"]["shapes"]
    (column,) = (shape for shape in shapes if shape["type"] == "rect")
    assert (column["x0"], column["x1"]) == pytest.approx((crossing.low, crossing.high), rel=1e-4)
    assert any(shape["type"] == "line" and shape["x0"] == pytest.approx(crossing.at, rel=1e-4) for shape in shapes)


def test_without_a_crossing_there_is_no_column():
    gap = replace(SIZES.panels[0].gaps[0], crossing=None)
    curves = replace(SIZES, panels=(replace(SIZES.panels[0], gaps=(gap,)),))
    assert not [shape for shape in gaps(curves)[0]["layout"]["shapes"] if shape["type"] == "rect"]


def test_without_a_comparison_there_is_no_second_picture():
    panel = replace(DISTANCE.panels[0], gaps=())
    assert gap_curves("g", panel, scales(DISTANCE), COLOURS) is None


@given(st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=6))
def test_names_do_not_cover_each_other_and_stay_in_order(places):
    found = apart(sorted(places), [0.1] * len(places))
    assert all(b - a >= 0.0999 for a, b in itertools.pairwise(found))
    assert found[-1] <= 1.0 + 1e-9
    assert found[0] >= -0.1 * len(places)
