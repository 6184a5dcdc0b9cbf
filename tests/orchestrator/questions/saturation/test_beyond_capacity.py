"""A rate that is too high is a result: its cell is invalid, the rates below it stand, and all four places say so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings.summary import RunSummary
from orchestrator.findings.validity import invalid_cells
from orchestrator.questions.saturation import words as saturation_words
from orchestrator.questions.saturation.find import QUESTION as SATURATION
from orchestrator.summarise import summarise
from services.python.contract.lines import Load
from tests.support.drafts import Draft, leave_unsent
from tests.support.runs import MS, US, a_plan, a_run

RATES = (250.0, 500.0, 1000.0, 4000.0)
REQUESTS, BLOCKS = 2000, 3


def a_ladder_of_rates() -> p.Plan:
    plans = [a_plan(load=Load(concurrency=64, requests=REQUESTS, rate_per_s=rate), blocks=BLOCKS) for rate in RATES]
    cells = tuple(cell for plan in plans for cell in plan.cells)
    number = {cell.id: place for place, cell in enumerate(cells)}
    order = [replace(t, seed=t.block * len(cells) + number[t.cell]) for t in schedule(cells, BLOCKS, 1)]
    return replace(plans[0], cells=cells, trials=tuple(replace(t, index=i) for i, t in enumerate(order)))


def overload(draft: Draft) -> None:
    """At 4,000 a second rest answers 1,000: what comes first takes the whole window, and most is never sent."""
    if draft.cell.load.rate_per_s != RATES[-1] or "rest" not in draft.cell.stack:
        return
    rows = draft.columns
    order = np.argsort(rows["intended_ns"], kind="stable")
    warm = int((rows["phase"] == 0).sum())
    unsent = order[warm + (order.size - warm) // 4 :]
    first, last = int(rows["intended_ns"][order[warm]]), int(rows["intended_ns"].max())
    measured = rows["phase"] == 1
    stretch = (last - first - MS) / (int(rows["intended_ns"][unsent].min()) - first)
    late = first + ((rows["intended_ns"] - first) * stretch).astype(np.int64)
    rows["sent_ns"] = np.where(measured, late, rows["sent_ns"])
    rows["received_ns"] = np.where(measured, rows["sent_ns"] + 300 * US, rows["received_ns"])
    leave_unsent(draft, unsent, last, "connections-busy")


@pytest.fixture(scope="module")
def summary() -> RunSummary:
    return summarise(a_run(a_ladder_of_rates(), spoil=overload))


def test_the_overloaded_cell_alone_is_invalid(summary: RunSummary) -> None:
    ((overloaded, failed),) = invalid_cells(summary.cells, summary.checks).items()
    assert set(failed) == {"queueing ramp", "offered load"}
    assert overloaded.startswith("rest-thin")
    assert {cell.id: cell.factors["rate"] for cell in summary.cells}[overloaded] == RATES[-1]
    standings = {c.group: c.standing for c in summary.comparisons if c.statistic == "median"}
    assert [standing for group, standing in standings.items() if "4000/s" in group] == ["cannot tell"]
    assert set(standings.values()) == {"cannot tell", "faster"}


def test_the_overloaded_rate_is_a_point_of_its_series_and_beyond_capacity(summary: RunSummary) -> None:
    rest, grpc = SATURATION.of(summary)
    assert [point.keeps_up for point in rest.points] == [True, True, True, False]
    assert [point.left_out for point in rest.points] == [None] * 4
    assert rest.points[3].per_s == pytest.approx(1000, rel=0.1)
    assert rest.points[3].offered_per_s == pytest.approx(4000, rel=0.1)
    cell = next(cell for cell in summary.cells if cell.id == rest.points[3].cell)
    assert cell.counts.not_sent == BLOCKS * REQUESTS * 3 // 4
    assert (rest.keeps_up_to, grpc.keeps_up_to) == (2, 3)
    assert next(saturation_words.sentences(rest)) == "rest (thin) keeps up to 1000/s; beyond capacity: 4000/s."
    assert next(saturation_words.sentences(grpc)) == "grpc (thin) keeps up to 4000/s, the greatest rate measured."


def test_offered_is_counted_over_the_time_in_which_requests_were_due(summary: RunSummary) -> None:
    for cell in summary.cells:
        for trial in cell.trials:
            assert trial.offered_per_s == pytest.approx(cell.factors["rate"], rel=0.1)
            assert trial.offered_per_s != cell.factors["rate"]  # arrivals are random, and as many as were drawn
    assert {t.offered_per_s for c in summarise(a_run()).cells for t in c.trials} == {None}
