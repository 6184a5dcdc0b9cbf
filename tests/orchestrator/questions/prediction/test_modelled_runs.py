"""The cost model of whole runs: what a run has is enough for a fit, and a run that cannot be trusted has none."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from orchestrator.experiment.plan.plan import External
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.shapes import Modelled
from orchestrator.questions.prediction.words import refusals
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise, summary_of
from tests.support.drafts import longer
from tests.support.modelled_runs import a_map, a_mapped_run
from tests.support.runs import MemoryRun


def modelled(run: MemoryRun) -> Modelled:
    model = PREDICTION.of(summarise(run, is_modelled=True))
    assert model is not None
    return model


def test_a_run_that_predicts_has_its_model_in_its_summary_and_reads_it_back() -> None:
    run = a_mapped_run(a_map(connections=("reuse", "per-request")))
    summary = summarise(run)
    model = PREDICTION.of(summary)
    assert model is not None
    assert (model.refusals, model.not_fitted) == ((), {})
    assert {fit.series.id: fit.opening for fit in model.fits} == {
        "rest-thin__echo__reuse": 0,
        "rest-thin__echo__per-request": 1,
        "grpc-thin__echo__reuse": 0,
        "grpc-thin__echo__per-request": 2,
    }
    assert model.judged is not None
    assert {cell.cell for cell in model.judged.cells} == set(run.stored.plan.sealed)
    assert all(abs(cell.error) < 0.03 for cell in model.judged.cells)
    assert not {cell.cell for fit in model.fits for cell in fit.cells} & set(run.stored.plan.sealed)
    assert PREDICTION.of(summary_of(json.loads(summary.to_json()))) == model


def test_what_is_read_of_a_cell_is_what_was_measured() -> None:
    model = modelled(a_mapped_run(a_map()))
    fit = model.fits[0]
    assert (fit.series.label, fit.series.connection) == ("rest (thin)", "reuse")
    cell = next(cell for cell in fit.cells if cell.size == 100 and cell.placement == "distance-10ms")
    assert len(cell.blocks) == len(cell.rtt) == len(cell.median) == 5
    assert all(9.9 < rtt < 10.2 for rtt in cell.rtt)
    assert all(10.0 < median < 12.0 for median in cell.median)
    assert 100 < cell.up < 400  # with headers


def refused(run: MemoryRun) -> str:
    summary = summarise(run, is_modelled=True)
    model = PREDICTION.of(summary)
    assert model is not None
    assert model.fits == ()
    assert model.judged is None
    return " ".join(refusals(summary))


def changed(run: MemoryRun, **parts: Any) -> MemoryRun:
    """The run with other parts of its plan."""
    return replace(run, stored=replace(run.stored, plan=replace(run.stored.plan, **parts)))


def with_link(run: MemoryRun, name: str, **link: float) -> MemoryRun:
    """The run as one whose plan wanted another link of a placement."""
    placements = tuple(
        replace(each, link=replace(each.link, **link)) if each.id == name else each
        for each in run.stored.plan.placements
    )
    return changed(run, placements=placements)


def test_a_link_that_did_not_deliver_what_was_asked_is_refused_with_its_name() -> None:
    reason = refused(with_link(a_mapped_run(), "distance-30ms", rtt_ms=45.0))
    assert "the link of distance-30ms was not as configured: a round trip of 30" in reason


def test_lost_packets_are_outside_of_the_model() -> None:
    run = with_link(a_mapped_run(), "distance-10ms", loss=0.01)
    assert "distance-10ms loses 1.0 % of its packets" in refused(run)


def test_a_window_changed_behind_its_back_is_refused() -> None:
    """At the farthest distance the largest payload takes five round trips more than at the others."""

    def held(draft: Any) -> None:
        if draft.cell.placement == "distance-80ms" and "300000" in draft.cell.operation:
            longer(draft, 400_000_000)

    run = a_mapped_run(a_map(hold_out=0.0), spoil=held)
    model = modelled(run)
    assert model.fits == ()
    assert {why.kind for why in model.not_fitted.values()} == {ReasonKind.OTHER_WINDOWS}


def test_calls_of_own_services_have_no_payloads_to_learn_from() -> None:
    run = a_mapped_run()
    call = {"kind": "http", "method": "GET", "path": "/", "headers": {}, "body": {}, "expect": {}, "same": {}}
    external = External(given="localhost", host="127.0.0.1", port=1, call=call)
    stacks = tuple(replace(stack, external=external) for stack in run.stored.plan.stacks)
    assert refused(changed(run, stacks=stacks)).endswith("a call of your own service has only the sizes of its rows.")
