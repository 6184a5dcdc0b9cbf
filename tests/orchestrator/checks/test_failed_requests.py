"""Requests without a right reply: slower than every reply in each percentile, comparison and curve, and never a number."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from orchestrator.findings.block_values import by_block, censored_blocks
from orchestrator.statistics import quantiles as st
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import action, explanation
from services.python.contract.lines import EXHAUSTED_REMEDY, STATUSES
from tests.support.runs import a_plan, a_run

TIMEOUT = 4  # of `contract.STATUSES`


def failing(of_thousand, *, stack="rest", status=TIMEOUT, blocks=None, rows=slice(None)):
    """A spoiler: so many of each trial's 1,000 measured requests of a stack end like this, spread over the trial."""

    def spoil(draft):
        if stack in draft.cell.stack and (blocks is None or draft.block in blocks):
            measured = np.flatnonzero(draft.columns["phase"] == 1)
            chosen = measured[np.linspace(0, measured.size - 1, of_thousand).astype(int)]
            draft.columns["status"][chosen] = status
            draft.columns["received_ns"][chosen] = draft.columns["sent_ns"][chosen] + 1_000  # it failed at once

    return spoil


def a_summary(spoil, **planned):
    plan = a_plan(**planned)
    plan = replace(plan, cells=tuple(replace(cell, timeout_s=2.0) for cell in plan.cells))
    return summarise(a_run(plan, spoil=spoil))


def described(summary, statistic, stack="grpc-thin"):
    return next(c for c in summary.comparisons if c.statistic == statistic and c.stack == stack)


# ---- quantiles


@given(
    some.lists(some.integers(min_value=1, max_value=10**9), min_size=1, max_size=200),
    some.integers(min_value=0, max_value=200),
    some.floats(min_value=0, max_value=1),
)
def test_a_quantile_is_that_of_all_requests_with_the_failed_ones_last(values, failed, share):
    """The reference: numpy's quantile with failures as a number beyond any latency, which must not be seen."""
    far = 1e15
    ordered = np.sort(np.asarray(values, dtype=np.int64))
    everything = np.concatenate([ordered.astype(float), np.full(failed, far)])
    expected = np.quantile(everything, share)
    judgement = st.quantile(ordered, share, failed)
    if expected > 2e9:
        assert judgement == math.inf or (1 - share) * everything.size < 1e-6
    elif math.isfinite(judgement):
        assert judgement == pytest.approx(expected, rel=1e-6, abs=1)
    else:  # numpy's interpolation lost an infinitesimal part of the failure to rounding
        assert expected >= ordered[-1]


@pytest.mark.parametrize(
    ("failed", "censored"),
    [
        (0, ()),
        (9, ("maximum",)),
        (10, ("p99", "maximum")),
        (60, ("p95", "p99", "maximum")),
        (600, ("median", "p90", "p95", "p99", "maximum")),
    ],
)
def test_a_percentile_among_the_failed_is_named_and_has_no_number(failed, censored):
    of = st.distribution(np.arange(1, 1001 - failed) * 1000, failed, 2e9)
    assert of.censored == censored
    assert all(getattr(of, name) is None for name in censored)
    assert (of.n, of.failed) == (1000 - failed, failed)
    assert of.limit == (2000.0 if failed else None)
    assert of.curve[-1][0] == pytest.approx(1 - failed / 1000)
    assert (of.mean is None) == (failed > 0)


# ---- a run


def test_failures_beyond_p99_leave_no_p99_and_no_ratio_of_it():
    summary = a_summary(failing(12))
    rest = summary.cells[0]
    assert rest.distribution.p99 is None
    assert "p99" in rest.distribution.censored
    assert rest.distribution.limit == 2000
    assert rest.details.replies.p99 is not None
    p99 = described(summary, "p99")
    assert (p99.ratio, p99.interval, p99.by_block, p99.standing) == (None, None, (), "cannot tell")
    assert p99.reason.kind is ReasonKind.CENSORED
    assert p99.reason.numbers == {"blocks": 5, "of": 5, "share": pytest.approx(0.012)}
    median = described(summary, "median")  # it has a number, and the failed check withholds the verdict on it
    assert (median.standing, median.reason.names) == ("cannot tell", ("reply",))
    assert (median.ratio, median.interval) == (None, None)


def test_of_connections_that_closed_the_time_out_is_not_what_is_known():
    of = a_summary(failing(12, status=STATUSES.index("closed"))).cells[0].distribution
    assert of.limit is None
    assert of.ended == pytest.approx(0.001)


def test_a_p99_that_is_a_time_out_in_some_blocks_only_is_not_compared_over_the_others():
    """The blocks that are left would be those in which less failed."""
    summary = a_summary(failing(15, blocks={1, 3}))
    trials = summary.cells[0].trials
    assert censored_blocks(trials, "p99") == (1, 3)
    assert set(by_block(trials, "p99")) == {0, 2, 4}
    assert described(summary, "p99").ratio is None
    assert described(summary, "p99").reason.numbers["blocks"] == 2


@pytest.mark.parametrize("status", [1, 2, 3, 4, 5, 6])
def test_a_request_that_failed_at_once_is_no_quicker_than_one_that_timed_out(status):
    """A connection refused after a microsecond must not make a stack quick."""
    summary = a_summary(failing(400, status=status))
    clean = a_summary(None)
    assert summary.cells[0].distribution.median > clean.cells[0].distribution.median
    assert summary.cells[0].distribution.minimum == pytest.approx(clean.cells[0].distribution.minimum, rel=0.05)


def test_a_trial_without_a_single_reply_is_not_left_out():
    """Its median is beyond every number; before, the trial vanished, and the other four were compared."""
    summary = a_summary(failing(1000, blocks={2}))
    rest = summary.cells[0]
    assert [trial.n for trial in rest.trials] == [1000, 1000, 0, 1000, 1000]
    assert rest.trials[2].median is None
    assert rest.median_interval is None
    for statistic in ("median", "throughput"):
        assert described(summary, statistic).ratio is None
    assert described(summary, "median").reason.numbers["blocks"] == 1


def test_throughput_counts_right_replies_over_the_wall_time_less_the_requesters_own_pauses():
    run = a_run(spoil=failing(500))
    cell = summarise(run).cells[0]
    rates = []
    for trial in run.stored.trials:
        if trial.cell == cell.id:
            rows = run.files[trial.requesters[0].samples]
            measured = rows["phase"] == 1
            window = rows["received_ns"][measured].max() - rows["sent_ns"][measured].min()
            window -= trial.requesters[0].done.paused_s * 1e9
            rates.append((measured & (rows["status"] == 0)).sum() / window * 1e9)
    assert [t.throughput_per_s for t in cell.trials] == pytest.approx(rates)


# ---- the checks


def verdict(summary, name, cell="rest-thin__add__local__reuse__c1"):
    return next(c for c in summary.checks if c.name == name and c.cell == cell)


@pytest.mark.parametrize(
    ("of_thousand", "judgement"), [(0, "pass"), (1, "warn"), (2, "warn"), (3, "fail"), (9, "fail")]
)
def test_reply_fails_from_the_share_that_moves_a_percentile_shown(of_thousand, judgement):
    """5,000 requests: the rank of p99 scatters by 13.9 requests by chance, so that 15 failures move it and 10 do not."""
    check = verdict(a_summary(failing(of_thousand)), "reply")
    assert check.verdict == judgement
    if judgement == "fail":
        assert "p99" in check.evidence["moved"]
        assert "p99, which the report shows" in explanation(check)


def test_an_exhausted_host_has_its_remedy():
    check = verdict(a_summary(failing(9, status=STATUSES.index("exhausted"))), "reply")
    assert check.evidence["errors"] == {"exhausted": 45}
    assert EXHAUSTED_REMEDY in action(check)


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_completeness_counts_the_failures_of_the_warm_up_too(kind):
    """The responder's count does not know of phases: what it never saw of the warm-up is missing from it, too."""

    def spoil(draft):
        draft.columns["status"][draft.columns["phase"] == 0] = kind
        draft.stats["answered"] -= int((draft.columns["phase"] == 0).sum())

    assert verdict(a_summary(spoil), "completeness").verdict == "pass"
