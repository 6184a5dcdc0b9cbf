"""What a sentence, a table and a chart say of one figure rests on one basis, or says on which."""

import re
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from benchmarks.checks.injections import _stretch
from orchestrator import quantities
from orchestrator.between_runs.across import compare_runs
from orchestrator.experiment.plan import plan as p
from orchestrator.report.render import render
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from services.python.contract.lines import STATUSES
from tests.support.findings import measured
from tests.support.pages import Document
from tests.support.runs import a_run

RATE = p.Load(concurrency=64, requests=2000, rate_per_s=500.0)


def without(run, stack, blocks):
    """The run with the trials of one stack failed in these blocks."""
    failure = {"stage": "measure", "kind": "timeout", "message": "no", "last_words": []}
    trials = tuple(
        replace(t, outcome="failed", requesters=(), failure=failure) if t.block in blocks and stack in t.cell else t
        for t in run.stored.trials
    )
    run.stored = replace(run.stored, trials=trials)
    return run


def of(summary, statistic, stack="grpc"):
    return next(c for c in summary.comparisons if c.statistic == statistic and c.stack_label.startswith(stack))


def test_which_is_quickest_goes_by_the_ratio_and_not_by_medians_of_other_blocks():
    """grpc lost the slow blocks: its pooled median is the lowest, and within blocks it is slower than rest."""

    def slow(draft):
        _stretch(draft, (2.0 if draft.block >= 5 else 1.0) * (1.12 if "grpc" in draft.cell.stack else 1.0))

    base = {"rest": 300.0, "grpc": 300.0, "websocket": 303.0}
    run = a_run(blocks=10, stacks=tuple(base), base_us=base, spoil=slow, between=0.03)
    summary = summarise(without(run, "grpc", range(5, 10)))
    medians = {c.labels.stack: c.distribution.median for c in summary.cells}
    assert min(medians, key=medians.get) == "grpc (thin)"
    assert of(summary, "median").standing == "slower"


@pytest.mark.parametrize("quick", range(3))
def test_one_quick_trial_puts_no_stack_first(quick):
    """By all requests pooled, the stack that is slower in every block but one would lead the table."""

    def one_quick(draft):
        if "grpc" in draft.cell.stack:
            _stretch(draft, 0.5 if draft.block == quick else 1.04)

    base = {"rest": 300.0, "grpc": 300.0}
    load = p.Load(concurrency=1, requests=1000)
    summary = summarise(a_run(blocks=3, base_us=base, spoil=one_quick, load=load, between=0.001))
    medians = {c.labels.stack: c.distribution.median for c in summary.cells}
    assert medians["grpc (thin)"] / medians["rest (thin)"] == pytest.approx(of(summary, "median").ratio)
    p99 = {c.labels.stack: c.distribution.p99 for c in summary.cells}
    assert p99["grpc (thin)"] / p99["rest (thin)"] == pytest.approx(of(summary, "p99").ratio)
    for cell in summary.cells:
        low, high = cell.median_interval
        assert low <= cell.distribution.median <= high
        assert sqrt(low * high) == pytest.approx(cell.distribution.median)
    page = Document(render(summary)).text
    assert quantities.INTERVALS in page


def test_a_percentile_that_some_trial_has_not_is_that_of_all_requests_and_named():
    few = summarise(a_run(load=p.Load(concurrency=1, requests=400), stacks=("rest",)))
    distribution = few.cells[0].distribution
    assert all(trial.p99 is None for trial in few.cells[0].trials)
    assert distribution.p99 is not None
    assert distribution.pooled == ("p99",)
    assert "of all requests" in Document(render(few)).text
    enough = summarise(a_run(stacks=("rest",))).cells[0]
    assert enough.distribution.pooled == ()


def test_ratios_by_block_name_the_blocks_that_they_are_of():
    summary = summarise(without(a_run(blocks=6, stacks=("rest", "grpc")), "grpc", (0, 2)))
    row = of(summary, "median")
    cells = {cell.id: cell for cell in summary.cells}
    mine, theirs = ({t.block: t.median for t in cells[c].trials} for c in (row.cell, row.reference_cell))
    assert dict(zip(row.blocks, row.by_block, strict=True)) == {block: mine[block] / theirs[block] for block in mine}
    assert re.search(r"2: 0\.\d\d× 4: 0\.\d\d× 5: 0\.\d\d× 6: 0\.\d\d×", Document(render(summary)).text)


def left_out(share):
    """The last requests of grpc were due and never sent."""

    def spoil(draft):
        if "grpc" not in draft.cell.stack:
            return
        columns, rows = draft.columns, np.flatnonzero(draft.columns["phase"] == 1)
        count = int(share * rows.size)
        last = rows[np.argsort(columns["intended_ns"][rows])][rows.size - count :]
        end = int(columns["intended_ns"][rows].max()) + 1000
        columns["status"][last] = STATUSES.index("not-sent")
        for name, value in (("connection", -1), ("bytes_sent", -1), ("bytes_received", -1)):
            columns[name][last] = value
        columns["sent_ns"][last] = columns["received_ns"][last] = end
        draft.done["requests"] -= count
        draft.done["verified"] -= count
        draft.stats["answered"] -= count
        draft.done.update(not_sent=count, not_sent_reason="connections-busy")

    return spoil


@pytest.mark.parametrize(
    ("share", "undecided"), [(0.0, set()), (0.0005, set()), (0.015, {"p99"}), (0.3, {"median", "p99", "throughput"})]
)
def test_what_was_not_sent_decides_no_percentile_that_it_may_move(share, undecided):
    """Of 30 % the check of the offered load fails, too, and the cell is invalid."""
    summary = summarise(a_run(load=RATE, stacks=("rest", "grpc"), spoil=left_out(share)))
    assert {c.statistic for c in summary.comparisons if c.standing == "cannot tell"} == undecided
    if undecided:
        assert of(summary, "p99").reason.kind in (ReasonKind.UNSENT, ReasonKind.INVALID)


def test_two_runs_are_not_told_apart_by_a_percentile_that_unsent_requests_may_move():
    """grpc takes half as long again, and its p99 is of those sent alone; the median cannot have moved by as much."""
    old, new = (
        measured(summarise(run), id=name)
        for name, run in (
            ("old", a_run(load=RATE, seed=1)),
            ("new", a_run(load=RATE, seed=2, base_us={"grpc": 300.0}, spoil=left_out(0.015))),
        )
    )
    by_median, by_p99 = (
        next(row for row in compare_runs(new, old, statistic).rows if row.label.startswith("grpc"))
        for statistic in ("median", "p99")
    )
    assert by_median.verdict == "regressed"
    assert by_p99.verdict == "cannot tell"
    assert by_p99.reason.kind is ReasonKind.UNSENT


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_responder_is_not_more_than_busy_in_a_window_that_its_other_work_exceeds(concurrency):
    def beside(draft):
        draft.stats["cpu_s"] = draft.stats_before["cpu_s"] + 0.8

    summary = summarise(a_run(stacks=("rest",), load=p.Load(concurrency=concurrency, requests=500), spoil=beside))
    core = next(c for c in summary.checks if c.name == "responder's core")
    assert all(trial.responder_window_s < 0.5 for trial in summary.cells[0].trials)
    assert {trial.responder_cpu_share for trial in summary.cells[0].trials} == {1.0}
    assert core.verdict == ("cannot tell" if concurrency > 1 else "pass")
