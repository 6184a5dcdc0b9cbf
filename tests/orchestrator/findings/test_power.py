"""What the planned repeats can tell, against a simulation of the very test."""

import numpy as np
import pytest

from orchestrator.findings import power
from orchestrator.statistics import equivalence, intervals
from orchestrator.summarise import summarise
from tests.support.runs import a_plan, a_run


@pytest.mark.parametrize(("sd", "blocks"), [(0.01, 5), (0.005, 5), (0.02, 10), (0.05, 10)])
def test_what_the_plan_says_is_found_is_called_faster_or_slower_by_the_rule_itself(sd, blocks):
    """A difference below the margin is a tie, however surely it is there: it is not called faster or slower."""
    difference = power.smallest_detectable(sd, blocks, margin=0.05)
    rng = np.random.default_rng(2)
    logs = rng.normal(np.log(1 + difference), sd, (3_000, blocks))
    called = [equivalence.standing(intervals.log_mean(row).interval(), 0.05) for row in logs]
    assert np.mean([word == "slower" for word in called]) == pytest.approx(0.8, abs=0.03)
    half = power.power_of(difference / 2, sd, blocks, margin=0.05)
    assert half < 0.5


def test_no_number_of_repeats_calls_what_is_below_the_margin():
    with pytest.raises(ValueError, match="below the margin"):
        power.repeats_needed(0.02, 0.01, margin=0.05)


@pytest.mark.parametrize("wanted", [0.01, 0.05, 0.2])
def test_the_repeats_needed_suffice_and_one_less_does_not(wanted):
    needed = power.repeats_needed(wanted, 0.03)
    assert power.power_of(wanted, 0.03, needed) >= 0.8
    assert needed == 3 or power.power_of(wanted, 0.03, needed - 1) < 0.8


@pytest.mark.parametrize(("sd", "blocks"), [(0.01, 3), (0.02, 5), (0.05, 10), (0.05, 20)])
def test_the_chance_of_a_tie_is_that_of_the_rule_itself(sd, blocks):
    rng = np.random.default_rng(3)
    logs = rng.normal(0, sd, (4_000, blocks))
    ties = [equivalence.standing(intervals.log_mean(row).interval(), 0.05) == "tie" for row in logs]
    assert np.mean(ties) == pytest.approx(power.power_of_tie(0.05, sd, blocks), abs=0.025)


def test_the_repeats_for_a_tie_suffice_and_one_less_does_not():
    needed = power.repeats_for_tie(0.05, 0.05)
    assert power.power_of_tie(0.05, 0.05, needed) >= 0.8 > power.power_of_tie(0.05, 0.05, needed - 1)
    assert power.repeats_for_tie(0.001, 0.5) is None


def test_what_is_out_of_reach_is_said_to_be():
    assert power.repeats_needed(0.0001, 0.5) is None
    assert power.smallest_detectable(0.05, 2) is None


def test_a_plan_takes_the_spread_of_the_last_run_of_the_same_experiment():
    summary = summarise(a_run(between=0.01, blocks=5))
    other = {
        "run": {"id": "other", "name": "another", "shares_machine": False},
        "plan": {"provider": "gcp", "cells": []},
        "comparisons": [{"statistic": "median", "by_block": [1, 2, 4]}],
    }
    statement = power.describe(a_plan(blocks=5), [other, summary.to_dict()])
    assert summary.run.id == statement.sd_of_run
    assert 0.002 < statement.sd < 0.05
