from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.report.figures.distribution import percentile_curve
from orchestrator.report.figures.dot_rows import stack_dots
from orchestrator.report.figures.scales import log_ticks
from orchestrator.report.figures.time import time_strip
from orchestrator.report.groups import groups, stack_colours
from tests.support.summaries import a_run

RUN = a_run()
(GROUP,) = groups(RUN)
COLOURS = stack_colours(RUN)


def unpacked(figure):
    return json.loads(figure.document)


def near(values):
    return pytest.approx(list(values), rel=1e-4)


def one(value):
    return pytest.approx(value, rel=1e-4)


class TestStacks:
    ordered = sorted(GROUP.cells, key=lambda cell: cell.distribution.median)

    def drawn(self, group=GROUP):
        return unpacked(stack_dots(group))

    def test_a_dot_is_the_median_with_its_interval_and_a_tick_the_p99(self):
        tails, medians = self.drawn()["data"]
        ends = [x + above for x, above in zip(medians["x"], medians["error_x"]["array"], strict=True)]
        assert medians["x"] == near(cell.distribution.median * 1000 for cell in self.ordered)
        assert ends == near(cell.median_interval[1] * 1000 for cell in self.ordered)
        assert tails["x"] == near(cell.distribution.p99 * 1000 for cell in self.ordered if cell.distribution.p99)

    def test_the_slower_lies_further_right_and_further_down(self):
        _, medians = self.drawn()["data"]
        assert medians["x"] == sorted(medians["x"])
        assert medians["y"] == list(range(len(self.ordered)))

    def test_a_row_names_stack_ends_and_difference(self):
        texts = [note["text"] for note in self.drawn()["layout"]["annotations"]]
        for cell in self.ordered:
            assert any(cell.labels.stack in text and f"{cell.responder} ← " in text for text in texts)
        assert sum("reference" in text for text in texts) == 1

    def test_the_line_is_the_floor(self):
        (line,) = self.drawn()["layout"]["shapes"]
        floor = next(floor for floor in GROUP.floors if floor.kind == "tcp")
        assert line["x0"] == one(floor.distribution.median * 1000)

    def test_a_vague_interval_is_not_drawn(self):
        cells = tuple(replace(cell, median_interval=(0.0004, 9000.0)) for cell in GROUP.cells)
        _, medians = self.drawn(replace(GROUP, cells=cells))["data"]
        assert set(medians["error_x"]["array"]) == {0.0}


class TestDistribution:
    def traces(self, figure):
        return {trace["name"]: trace for trace in unpacked(figure)["data"]}

    def test_the_floors_are_in_the_same_picture(self):
        assert {"ping (floor)", "tcp (floor)"} <= self.traces(percentile_curve(GROUP, COLOURS)).keys()

    def test_the_axis_reaches_the_slowest(self):
        low, high = unpacked(percentile_curve(GROUP, COLOURS))["layout"]["yaxis"]["range"]
        slowest = max(cell.distribution.maximum for cell in GROUP.cells) * 1000
        quickest = min(floor.distribution.minimum for floor in GROUP.floors) * 1000

        assert 10**low < quickest
        assert 10**high > slowest

    def test_in_the_percentile_curve_each_nine_is_as_wide_as_the_one_before(self):
        axis = unpacked(percentile_curve(GROUP, COLOURS))["layout"]["xaxis"]
        places = {text: math.log10(at) for at, text in zip(axis["tickvals"], axis["ticktext"], strict=True)}

        assert places["p99"] - places["p90"] == pytest.approx(1)
        assert places["p99.9"] - places["p99"] == pytest.approx(1)

    def test_the_slowest_has_a_place_in_the_percentile_curve(self):
        cell = GROUP.cells[0]
        trace = self.traces(percentile_curve(GROUP, COLOURS))[cell.labels.stack]

        assert trace["x"][-1] == one(2 * cell.distribution.n)
        assert trace["y"][-1] == one(cell.distribution.maximum * 1000)


class TestTimings:
    cell = GROUP.cells[0]

    def test_each_of_the_slowest_is_drawn(self):
        _, _, slowest = unpacked(time_strip(self.cell, GROUP, COLOURS))["data"]

        assert slowest["x"] == pytest.approx([seconds for seconds, _ in self.cell.details.strip.slowest], rel=1e-3)
        assert slowest["y"] == near(latency * 1000 for _, latency in self.cell.details.strip.slowest)
        assert slowest["mode"] == "markers"

    def test_the_band_and_the_median_stop_between_trials(self):
        band, median, _ = unpacked(time_strip(self.cell, GROUP, COLOURS))["data"]
        trials = len({entry[1] for entry in self.cell.details.strip.bins})

        assert band["x"].count(None) == trials
        assert median["x"].count(None) == trials

    def test_the_band_spans_minimum_to_p99(self):
        band, _, _ = unpacked(time_strip(self.cell, GROUP, COLOURS))["data"]
        heights = [value for value in band["y"] if value is not None]

        assert min(heights) == pytest.approx(min(entry[2] for entry in self.cell.details.strip.bins) * 1000, rel=1e-3)
        assert max(heights) == pytest.approx(max(entry[4] for entry in self.cell.details.strip.bins) * 1000, rel=1e-3)

    def test_all_cells_of_a_group_share_one_latency_axis(self):
        ranges = {tuple(unpacked(time_strip(c, GROUP, COLOURS))["layout"]["yaxis"]["range"]) for c in GROUP.cells}

        assert len(ranges) == 1


@given(st.floats(min_value=1e-3, max_value=1e5), st.floats(min_value=1.01, max_value=1e6))
def test_an_axis_has_a_few_ticks_and_all_within_its_range(low, factor):
    ticks = log_ticks(low, low * factor)

    assert all(low * 0.9999 <= tick <= low * factor * 1.0001 for tick in ticks)
    assert ticks == sorted(set(ticks))
    assert len(ticks) >= (2 if factor > 1.3 else 1)
    assert len(ticks) <= 12
