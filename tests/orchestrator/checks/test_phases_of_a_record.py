"""Which phase a row is entered in decides whether it counts: what was slow is not hidden in another one."""

import numpy as np
import pytest

from benchmarks.checks import injections
from orchestrator.experiment.plan import plan as p
from tests.support.judged import of, verdicts
from tests.support.runs import a_run

EIGHT = {"load": p.Load(concurrency=8, requests=4_000)}
OPEN = {"load": p.Load(concurrency=64, requests=2_000, rate_per_s=500.0)}


def the_slowest(inject, count=10):
    return lambda draft: inject(draft, count, np.random.default_rng(1))


@pytest.mark.parametrize("planned", [{}, EIGHT, OPEN, {"connection": "per-request"}])
def test_slow_requests_that_are_entered_as_warm_up_fail(planned):
    (first, *_) = of(a_run(spoil=the_slowest(injections.enter_the_slowest_as_warm_up), **planned), "completeness")
    assert first.verdict == "fail"
    assert "10 warm-up requests fell within the measured phase" in first.explanation


def test_a_warm_up_that_is_not_over_in_time_fails():
    def spoil(draft):
        rows = draft.columns
        last = np.flatnonzero(rows["phase"] == 0)[-1]
        rows["received_ns"][last] = rows["sent_ns"][rows["phase"] == 1].min() + 1

    assert verdicts(a_run(spoil=spoil))["completeness"] == "fail"
