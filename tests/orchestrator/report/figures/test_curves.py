"""Curves: shared scales, names beside their lines, the line of no difference and its crossing."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.report.figures.curves import gap_curves, latency_curves, scales
from orchestrator.report.figures.labels import apart
from tests.support.curves import COLOURS, DISTANCE, SIZES


def drawn(figure):
    return json.loads(figure.document)


def latencies(curves):
    shared = scales(curves)
    return [drawn(latency_curves(f"c{n}", panel, shared, COLOURS)) for n, panel in enumerate(curves.panels)]


def gaps(curves):
    shared = scales(curves)
    return [drawn(gap_curves(f"g{n}", panel, shared, COLOURS)) for n, panel in enumerate(curves.panels)]


@pytest.mark.parametrize("of", [latencies, gaps])
@pytest.mark.parametrize("curves", [DISTANCE, SIZES])
def test_all_panels_of_an_axis_have_the_same_scales(of, curves):
    layouts = [each["layout"] for each in of(curves)]
    assert len(layouts) == len(curves.panels)
    for axis in ("xaxis", "yaxis"):
        assert len({json.dumps(layout[axis], sort_keys=True) for layout in layouts}) == 1


def test_a_line_goes_through_its_points_with_their_intervals_in_the_unit_of_the_axis():
    figure = latencies(DISTANCE)[0]
    for trace, line in zip(figure["data"], DISTANCE.panels[0].lines, strict=True):
        assert trace["x"] == pytest.approx([point.at for point in line.points], rel=1e-4)
        assert trace["y"] == pytest.approx([point.median for point in line.points], rel=1e-4)
        ends = [y + up for y, up in zip(trace["y"], trace["error_y"]["array"], strict=True)]
        assert ends == pytest.approx([point.interval[1] for point in line.points], rel=1e-4)
        starts = [y - down for y, down in zip(trace["y"], trace["error_y"]["arrayminus"], strict=True)]
        assert starts == pytest.approx([point.interval[0] for point in line.points], rel=1e-4)


def test_latency_over_distance_starts_at_zero_so_that_slopes_are_round_trips():
    layout = latencies(DISTANCE)[0]["layout"]
    assert layout["yaxis"]["range"][0] == 0
    assert layout["xaxis"].get("type", "linear") == "linear"


def test_panels_that_would_lie_flat_beside_others_share_a_logarithmic_scale_that_is_said():
    small, large = DISTANCE.panels
    lines = [
        replace(
            line,
            points=tuple(
                replace(p, median=20 * p.median, interval=(19 * p.median, 21 * p.median)) for p in line.points
            ),
        )
        for line in large.lines
    ]
    far = replace(DISTANCE, panels=(small, replace(large, lines=tuple(lines))))
    assert scales(far).latency.is_log
    assert not scales(DISTANCE).latency.is_log
    assert "(logarithmic)" in latency_curves("c", small, scales(far), COLOURS).document
    assert "(logarithmic)" not in latency_curves("c", small, scales(DISTANCE), COLOURS).document


def test_a_logarithmic_axis_is_labelled_at_the_sizes_that_were_measured():
    layout = latencies(SIZES)[0]["layout"]
    assert layout["xaxis"]["type"] == "log"
    assert layout["xaxis"]["ticktext"] == ["100 B", "1 kB", "10 kB", "100 kB"]


def test_each_line_is_named_at_its_end_in_its_own_colour():
    figure = latencies(DISTANCE)[0]
    colours = {
        note["text"].rpartition("<br>")[0]: note["font"]["color"].replace("text-", "series-")
        for note in figure["layout"]["annotations"]
    }
    assert colours == {trace["name"].replace(" (", "<br>("): trace["line"]["color"] for trace in figure["data"]}
    assert len(set(colours.values())) == 2


def test_a_stack_has_one_colour_in_all_panels():
    colours = [{trace["name"]: trace["line"]["color"] for trace in figure["data"]} for figure in latencies(DISTANCE)]
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
