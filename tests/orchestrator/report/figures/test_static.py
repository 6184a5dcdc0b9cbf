"""Pictures of figures, with and without a script."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.findings.block_values import value_of
from orchestrator.findings.grid import sweep
from orchestrator.findings.ranking import ranked_by
from orchestrator.findings.summary import RunSummary
from orchestrator.report.figures import static
from orchestrator.report.figures.curves import panels
from orchestrator.report.figures.static import Dot
from orchestrator.report.groups import stack_colours
from tests.support.concluded import cell_of, setting, summary
from tests.support.summaries import a_run

DOTS = (
    Dot(label="ws", value=100.0, interval=(90.0, 110.0), tail=300.0, text="100 µs", difference="−50 %"),
    Dot(label="<b>rest", value=200.0, text="200 µs", difference="reference"),
    Dot(label="soap", value=400.0),
)


def test_dots_lie_evenly_apart_where_each_value_is_twice_the_one_before() -> None:
    picture = static.chart(DOTS, "Latency")
    first, second, third = (float(text) for text in re.findall(r'cx="([\d.]+)%"', picture))
    assert second - first == pytest.approx(third - second, abs=0.11)
    assert 0 < first < third < 100


def test_a_chart_says_what_each_row_is() -> None:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", static.chart(DOTS, "Latency", floor=50.0))
    assert {"ws", "&lt;b&gt;rest", "100 µs", "−50 %", "reference"} <= set(texts)


def drawn(run: RunSummary) -> list[dict[str, Any]]:
    along = sweep(run)
    assert along is not None
    figures = [figure for _, figure in panels(along, stack_colours(run), ranked_by(run))]
    return [json.loads(figure.document) for figure in figures]


def test_every_operation_has_a_panel_with_its_stacks_and_floors() -> None:
    run = a_run(stacks=3, placements=2, operations=2)
    figures = drawn(run)
    assert len(figures) == 2
    for figure in figures:
        labels = [cell.labels.stack for cell in run.cells[:3]]
        assert [trace["name"] for trace in figure["data"]] == ["tcp", "ping", *labels]
        assert figure["layout"]["yaxis"]["type"] == "log"
        assert figure["layout"]["xaxis"]["ticktext"] == ["local", "cross-region"]


def test_a_line_goes_through_its_medians_with_their_intervals() -> None:
    run = a_run(stacks=2, placements=2)
    (figure,) = drawn(run)
    for cell in run.cells:
        trace = next(trace for trace in figure["data"] if trace["name"] == cell.labels.stack)
        place = figure["layout"]["xaxis"]["ticktext"].index(cell.labels.placement)
        assert trace["y"][place] == pytest.approx(cell.distribution.median, rel=1e-3)  # type: ignore[union-attr]
        high = trace["y"][place] + trace["error_y"]["array"][place]
        assert high == pytest.approx(cell.median_interval[1], rel=1e-3)  # type: ignore[index]


@pytest.mark.parametrize("metric", ["p99", "throughput"])
def test_a_sweep_shows_what_the_experiment_is_about(metric: str) -> None:
    run = a_run(stacks=2, placements=2)
    run = replace(run, plan=replace(run.plan, metric=metric))
    (figure,) = drawn(run)
    assert [trace["name"] for trace in figure["data"]] == [cell.labels.stack for cell in run.cells[:2]]
    assert figure["layout"]["yaxis"]["title"]["text"].startswith(metric)
    for cell in run.cells:
        trace = next(trace for trace in figure["data"] if trace["name"] == cell.labels.stack)
        place = figure["layout"]["xaxis"]["ticktext"].index(cell.labels.placement)
        assert trace["y"][place] == pytest.approx(value_of(cell, metric), rel=1e-3)


def test_ways_to_call_of_one_stack_have_its_colour_and_another_line() -> None:
    cells = [cell_of("rest", 0.3, connection=way, concurrency=n) for n in (1, 4) for way in ("reuse", "per-request")]
    (figure,) = drawn(replace(summary((cells, ())), floors=()))
    lines = [trace["line"] for trace in figure["data"]]
    assert len({line["color"] for line in lines}) == 1
    assert len({line["dash"] for line in lines}) == 2


def test_an_operation_with_one_place_has_no_panel() -> None:
    alone = setting({"rest": 0.3}, operation="add", payload="add")
    sizes = [setting({"rest": 0.3}, operation="echo", payload=f"echo {n} B", bytes=n) for n in (100, 1000)]
    assert len(drawn(summary(alone, *sizes))) == 1


def test_what_was_not_measured_leaves_a_line_shorter() -> None:
    first, second = (setting({"rest": 0.3, "grpc": 0.2}, concurrency=n) for n in (1, 4))
    (figure,) = drawn(replace(summary(first, (second[0][:1], ())), floors=()))
    assert [trace["x"] for trace in figure["data"]] == [[0, 1], [0]]
