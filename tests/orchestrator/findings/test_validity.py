"""A cell whose checks failed does not disown the others."""

from dataclasses import replace

import numpy as np

from orchestrator.checks.base import Finding
from orchestrator.checks.latency.tail import CHECK as TAIL
from orchestrator.checks.load.offered_load import CHECK as OFFERED_LOAD
from orchestrator.findings.validity import invalid_cells, withhold
from orchestrator.report.render import render
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from tests.support.runs import US, a_run

FAILED = Finding(verdict="fail", explanation="It failed.")


def slow_sends(draft):
    """What half of the declared rate looks like; committed by one stack alone."""
    if "grpc" in draft.cell.stack:
        rows = draft.columns
        rows["sent_ns"] = rows["intended_ns"] + (rows["intended_ns"] - rows["intended_ns"].min())
        rows["received_ns"] = rows["sent_ns"] + 300 * US


def overloaded():
    from orchestrator.experiment.plan import plan as p

    load = p.Load(concurrency=64, requests=2000, rate_per_s=500.0)
    return summarise(a_run(spoil=slow_sends, stacks=("rest", "grpc", "cbor"), load=load))


def test_a_comparison_with_an_invalid_cell_has_no_winner_and_the_others_have():
    found = {(c.stack_label, c.statistic): c for c in overloaded().comparisons}
    assert found["grpc (thin)", "median"].standing == "cannot tell"
    assert found["grpc (thin)", "median"].reason.kind is ReasonKind.INVALID
    assert found["cbor (thin)", "median"].standing == "faster"


def test_a_comparison_with_an_invalid_cell_gives_no_ratio_and_both_failures_are_named():
    summary = overloaded()
    pair = next(c for c in summary.comparisons if c.stack_label == "grpc (thin)")
    assert (pair.ratio, pair.interval, pair.by_block) == (None, None, ())
    sound = next(c for c in summary.comparisons if c.stack_label == "cbor (thin)")
    (both,) = withhold([sound], {sound.cell: ("floor",), sound.reference_cell: ("reply", "noise")})
    assert both.reason.cells == (sound.cell, sound.reference_cell)
    assert both.reason.names == ("floor", "reply", "noise")
    (few,) = withhold([replace(sound, interval=None, standing="cannot tell")], {sound.cell: ("floor",)})
    assert (few.ratio, few.reason.names) == (None, ("floor",))


def test_the_report_names_the_cells_and_wears_no_watermark():
    summary = overloaded()
    page = render(summary)
    assert "the other cells are valid" in page
    assert f"{len({c.name for c in summary.checks if c.verdict == 'fail'})} checks failed in 1 cell:" in page
    assert page.count('<span class="invalid">invalid: ') == 1
    assert 'class="watermark"' not in page


def test_an_invalid_reference_leaves_nothing_to_compare_with():
    def spoil(draft):
        if "rest" in draft.cell.stack:
            draft.columns["received_ns"] = draft.columns["sent_ns"] + 1_000 + np.arange(draft.columns["sent_ns"].size)

    assert {c.standing for c in summarise(a_run(spoil=spoil)).comparisons} == {"cannot tell"}


def test_a_check_of_the_whole_run_invalidates_every_cell():
    cells = summarise(a_run()).cells
    of_run = OFFERED_LOAD.result(FAILED, None)
    assert set(invalid_cells(cells, [of_run])) == {cell.id for cell in cells}


def test_a_note_invalidates_nothing_and_no_failure_says_nothing():
    cells = summarise(a_run()).cells
    assert TAIL.severity == "note"
    assert invalid_cells(cells, [TAIL.result(FAILED, cells[0].id)]) == {}
