from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.report.static.svg import path

PIXELS = st.floats(-400, 400).map(lambda value: round(value, 3))
STEP = re.compile(r"([Mhvl])((?:\s?-?(?:\d+(?:\.\d)?|\.\d))+)")
NUMBER = re.compile(r"-?(?:\d+(?:\.\d)?|\.\d)")


def ends(data: str) -> list[tuple[float, float]]:
    """Where each command of a path ends."""
    found, x, y = [], 0.0, 0.0
    for command, numbers in STEP.findall(data):
        values = [float(number) for number in NUMBER.findall(numbers)]
        across, down = {"h": (values[0], 0.0), "v": (0.0, values[0])}.get(command, (values[0], values[-1]))
        x, y = (across, down) if command == "M" else (x + across, y + down)
        found.append((x, y))
    return found


@given(st.lists(st.tuples(PIXELS, PIXELS), min_size=1, max_size=40))
def test_a_path_goes_through_points_to_a_tenth_of_a_pixel_and_no_rounding_adds_up(points):
    reached = ends(path(points))
    assert reached[0] == pytest.approx(points[0], abs=0.051)
    assert reached[-1] == pytest.approx(points[-1], abs=0.051)
    for end in reached:
        assert any(end == pytest.approx(point, abs=0.051) for point in points)


def test_a_stepped_path_goes_across_and_then_down():
    assert path([(0, 10), (2.5, 10), (5, 4.75), (5, 0)], is_stepped=True) == "M0 10h2.5h2.5v-5.2v-4.8"


def test_steps_are_short_and_a_closed_path_says_so():
    assert path([(10, 10), (10.2, 13), (9.9, 20)], is_closed=True) == "M10 10l.2 3l-.3 7Z"
    assert path([]) == ""
