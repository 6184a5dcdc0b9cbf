"""The part *Prediction* of a report: maps, tables, sizes; in the page, as pictures, and verified."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from orchestrator.cli.answer import answer_lines, prediction, short_lines
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.judged import judged
from orchestrator.questions.prediction.shapes import Modelled
from orchestrator.questions.prediction.surface import NONE, round_surface, ways
from orchestrator.report import markup, render
from orchestrator.report.figures.base import Figure
from orchestrator.report.prediction import prediction_view
from orchestrator.statistics.terms import ReasonKind, because
from orchestrator.summarise import summarise
from orchestrator.wording.answer import answer
from tests.support.concluded import check
from tests.support.findings import with_findings
from tests.support.modelled import Lab, Truth, sealed_at
from tests.support.modelled_runs import a_map, a_mapped_run, distances
from tests.support.summaries import a_run


@pytest.fixture(scope="module")
def summary() -> RunSummary:
    return summarise(a_mapped_run(a_map(connections=("reuse", "per-request"))))


@pytest.fixture(scope="module")
def page(summary: RunSummary) -> str:
    return render(summary)


def test_each_setting_has_a_map_and_a_table(page: str) -> None:
    assert page.count('<div class="map"') == 2
    assert "Decision map, connections kept open" in page
    assert "Decision map, a new connection for each request" in page
    assert "Held-out cells" in page


def marks(figure: Figure, name: str) -> int:
    """How many marks of a kind a map has."""
    traces = json.loads(figure.document)["data"]
    return sum(len(trace["x"]) for trace in traces if trace["name"] == name)


def test_a_map_covers_every_place_where_two_stacks_are_predicted(summary: RunSummary) -> None:
    view = prediction_view(summary, {cell.stack: n for n, cell in enumerate(summary.cells)})
    model = PREDICTION.of(summary)
    assert view is not None
    assert model is not None
    for each, way in zip(view.maps, ways(model, summary.matters), strict=True):
        document = json.loads(each.figure.document)
        grounds = [trace for trace in document["data"] if trace["type"] == "bar"]
        (x0, x1), (y0, y1) = (document["layout"][axis]["range"] for axis in ("xaxis", "yaxis"))
        area = sum(x * width for trace in grounds for x, width in zip(trace["x"], trace["width"], strict=True))
        codes = round_surface(way).codes
        assert area == pytest.approx((x1 - x0) * (y1 - y0), rel=0.01) or (codes == NONE).any()
        assert len(document["layout"]["annotations"]) == len(grounds) == len(np.unique(codes[codes != NONE]))
        assert marks(each.figure, "measured") > 1
        assert marks(each.figure, "held out") >= 1


def test_a_map_has_the_sealed_cells_of_links_of_its_own_rate() -> None:
    base = a_run(stacks=2)
    truths = tuple(Truth(name=stack) for stack in dict.fromkeys(cell.stack for cell in base.cells))
    cells = [
        replace(cell, cell=f"{cell.cell}-{rate:g}", placement=f"{cell.placement}-{rate:g}")
        for rate in (200.0, 1000.0)
        for cell in Lab(truths, rate=rate).cells()
    ]
    cells = sealed_at(cells, 0.2, 1)
    series = tuple(truth.series for truth in truths)
    fits, not_fitted = fit_all(series, cells)
    model = Modelled(series=series, fits=fits, judged=judged(fits, cells), refusals=(), not_fitted=not_fitted)
    view = prediction_view(with_findings(base, prediction=model), {truth.name: n for n, truth in enumerate(truths)})
    assert view is not None
    assert [map_.title.split(", ")[-1] for map_ in view.maps] == ["200 Mbit/s", "1000 Mbit/s"]
    for rate, map_ in zip((200.0, 1000.0), view.maps, strict=True):
        sealed = {(cell.placement, cell.size) for cell in cells if cell.is_sealed and cell.rate_mbit == rate}
        assert marks(map_.figure, "held out") == len(sealed)


def test_a_run_without_a_model_says_why() -> None:
    run = a_mapped_run(a_map(placements=[replace(distances()[0], kind="local")], hold_out=0.0))
    text = render(summarise(run, is_modelled=True))
    assert "This run has no cost model." in text
    assert '<div class="map"' not in text


def test_a_run_that_predicts_nothing_has_no_such_part() -> None:
    text = render(a_run(stacks=2))
    assert 'id="prediction"' not in text
    assert "#prediction" not in text


def test_stacks_without_a_fit_are_named_with_the_reason(summary: RunSummary) -> None:
    assert PREDICTION.of(summary) is not None
    gone = PREDICTION.of(summary).fits[0].series
    text = render(
        with_findings(
            summary,
            prediction=replace(
                PREDICTION.of(summary),
                fits=PREDICTION.of(summary).fits[1:],
                not_fitted={gone.id: because(ReasonKind.OTHER_WINDOWS, "<b>far</b>", "more", size=100, trips=2.0)},
            ),
        )
    )
    assert "Not predicted" in text
    assert "over &lt;b&gt;far&lt;/b&gt; take 2.0 round trips more" in text


def test_a_run_that_cannot_answer_predicts_nothing_beside_its_answer(summary: RunSummary) -> None:
    doubted = replace(summary, checks=(check("reply", None),))
    why = answer(doubted).invalid_because
    assert why
    assert prediction(doubted) == ""
    assert not any("Prediction" in line for line in (*short_lines(doubted), *answer_lines(doubted)))
    page = render(doubted)
    first, details = page.split('id="details"', 1)
    assert "Prediction</a>:" not in first
    assert f"It rests on measurements to doubt:</strong> {markup.prose(why)}." in details
    assert "It rests on measurements to doubt" not in render(summary)
