"""Cells over runs: which there are, what changed, and how that is drawn."""

from __future__ import annotations

import pytest

from tests.support.web import RUNS


def test_the_cells_that_runs_measured_are_listed_and_searched(pages):
    context = pages.get("/trends").context
    cells = context["cells"]
    assert len(cells) == 2
    assert {context["lines"][cell[0]].count("<line") for cell in cells} == {5}
    assert {runs for *_, runs in cells} == {6}
    (cell,) = pages.get("/trends?text=GRPC").context["cells"]
    assert cell[1] == "grpc-thin"
    assert pages.get("/trends?text=grpc+nowhere").context["cells"] == []


@pytest.mark.parametrize("statistic", ["median", "p99", "throughput"])
def test_a_trend_has_a_line_for_each_run_newest_first_and_marks_the_change(pages, statistic):
    (shown,) = pages.get(f"/trends?cell=grpc-thin&statistic={statistic}").context["trends"]
    assert [line.point.run for line in shown.lines] == list(reversed(RUNS))
    assert shown.changes == 1
    assert [line.point.verdict for line in shown.lines if line.point.is_change] == ["regressed"]
    assert shown.trend.statistic == statistic


def test_the_figure_has_the_values_of_the_table_and_a_line_at_the_change(pages):
    (shown,) = pages.get("/trends?cell=grpc-thin").context["trends"]
    (trace,) = shown.figure.data
    assert trace["text"] == list(RUNS)
    assert trace["y"] == pytest.approx([point.median * 1000 for point in shown.trend.points])
    assert all(
        up >= 0 and down >= 0
        for up, down in zip(trace["error_y"]["array"], trace["error_y"]["arrayminus"], strict=True)
    )
    assert [shape["x0"] for shape in shown.figure.layout["shapes"]] == [4.5]
    assert shown.figure.layout["annotations"][0]["text"].startswith("regressed 1.4")


def test_one_run_has_no_figure(pages):
    (shown,) = pages.get("/trends?cell=grpc-thin&until=2026-11-10").context["trends"]
    assert (len(shown.lines), shown.figure) == (1, None)


def test_filters_hold_and_are_kept_in_links(pages):
    answer = pages.get("/trends", params={"cell": "grpc-thin", "text": "<script>"})
    assert [line.point.run for line in answer.context["trends"][0].lines] == [RUNS[5], RUNS[3], RUNS[1]]
    assert answer.context["given"] == {"text": "<script>"}


@pytest.mark.parametrize(("query", "status"), [("cell=nope", 404), ("cell=grpc-thin&since=x", 400)])
def test_a_cell_that_no_run_measured(pages, query, status):
    assert pages.get(f"/trends?{query}").status_code == status
