"""The schedule of an open loop and the rates of clocks: both must stand where they stood."""

import numpy as np
import pytest

from benchmarks.checks import injections
from orchestrator.experiment.plan import plan as p
from tests.support.judged import of, verdicts
from tests.support.runs import MS, US, a_run

OPEN = {"load": p.Load(concurrency=64, requests=2_000, rate_per_s=500.0)}


def moved_by(shift_ns, *, without_begin=False):
    def spoil(draft):
        draft.columns["intended_ns"] = draft.columns["intended_ns"] + shift_ns
        if without_begin:
            del draft.done["begin_ns"]

    return spoil


@pytest.mark.parametrize("shift_ns", [1, 250 * US, 5 * MS, -250 * US])
def test_a_schedule_that_does_not_begin_with_the_phase_fails(shift_ns):
    found = of(a_run(spoil=moved_by(shift_ns), **OPEN), "offered load")
    assert {result.verdict for result in found} == {"fail"}


def test_one_request_sent_early_fails():
    def spoil(draft):
        draft.columns["sent_ns"][1_000] = draft.columns["intended_ns"][1_000] - 1

    assert verdicts(a_run(spoil=spoil, **OPEN))["offered load"] == "fail"


def test_a_record_that_does_not_say_when_its_phase_began_is_judged_by_its_send_stamps():
    assert verdicts(a_run(spoil=moved_by(0, without_begin=True), **OPEN))["offered load"] == "pass"


def slower_by(share, blocks=range(5)):
    def spoil(draft):
        if draft.block in blocks:
            injections.slow_the_clock_down(draft, share, np.random.default_rng(1))

    return spoil


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_a_clock_that_is_slow_in_most_trials_fails(share):
    found = of(a_run(spoil=slower_by(share)), "clocks")
    assert {result.verdict for result in found} == {"fail"}
    assert "not count seconds" in found[0].explanation
