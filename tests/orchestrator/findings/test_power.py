"""What the planned repeats can tell, against a simulation of the very test."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from orchestrator.experiment.plan.plan import Placement
from orchestrator.findings import power
from orchestrator.findings.compare import compare_cells
from orchestrator.results.manifest import SHARED
from orchestrator.statistics import equivalence, intervals
from orchestrator.summarise import summarise
from tests.support.runs import a_plan, a_run


def test_the_smallest_detectable_difference_is_found_four_times_in_five():
    blocks, sd = 5, 0.05
    difference = power.smallest_detectable(sd, blocks)
    rng = np.random.default_rng(1)
    logs = rng.normal(np.log(1 + difference), sd, (20_000, blocks))
    found = stats.ttest_1samp(logs, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.015)


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


@pytest.mark.parametrize("sd", [0.005, 0.02, 0.05])
def test_the_repeats_for_what_matters_call_it_faster_or_slower_by_the_rule_itself(sd):
    blocks = power.repeats_needed(0.05, sd, margin=0.05)
    rng = np.random.default_rng(4)
    logs = rng.normal(np.log(1.05), sd, (3_000, blocks))
    called = [equivalence.standing(intervals.log_mean(row).interval(), 0.05) for row in logs]
    assert np.mean([word == "slower" for word in called]) >= 0.78


def test_no_number_of_repeats_calls_what_is_below_the_margin():
    with pytest.raises(ValueError, match="below the margin"):
        power.repeats_needed(0.02, 0.01, margin=0.05)


def test_the_plan_names_no_difference_that_would_be_called_a_tie():
    quiet = {"run_id": "r", "name": "synthetic", "comparisons": [{"statistic": "median", "by_block": [1, 1.01, 0.99]}]}
    said = power.describe(a_plan(blocks=5), [quiet])
    assert power.smallest_detectable(said.sd, 5) < 0.02  # its interval would leave out 1, and be a tie
    assert 0.035 < said.smallest_detectable < 0.05
    assert "(much smaller ones are called a tie within 5 %)" in said.sentence


def test_more_repeats_tell_smaller_differences_and_more_stacks_larger_ones():
    few, many = power.smallest_detectable(0.05, 3), power.smallest_detectable(0.05, 10)
    assert few > many
    assert power.smallest_detectable(0.05, 10, compared=11) > many


def test_the_plan_counts_the_comparisons_of_all_its_settings():
    places = [Placement(id=name, name=name, kind="local") for name in ("here", "there", "elsewhere")]
    one, several = a_plan(controls=1), a_plan(stacks=("rest", "grpc", "cbor"), controls=1, placements=places)
    assert (power.describe(one).comparisons, power.describe(several).comparisons) == (1, 6)
    assert power.describe(several).smallest_detectable > power.describe(one).smallest_detectable
    found = compare_cells(several, summarise(a_run(several)).cells)
    assert sum(c.statistic == "median" and not c.control for c in found) == 6


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


def test_the_plan_speaks_of_the_difference_that_matters():
    said = power.describe(replace(a_plan(blocks=5), matters=0.1))
    assert said.wanted == 0.1
    assert f"10 %, which matters here, would take {said.repeats_for_wanted}" in said.sentence
    assert f"a tie within it {said.repeats_for_tie} (" in said.sentence


def test_what_is_out_of_reach_is_said_to_be():
    assert power.repeats_needed(0.0001, 0.5) is None
    assert power.smallest_detectable(0.05, 2) is None


def test_a_plan_without_history_names_the_default():
    said = power.describe(a_plan(blocks=5))
    assert said.sd == power.DEFAULT_SD
    assert "default" in said.sentence
    assert said.smallest_detectable is not None


def test_a_plan_takes_the_spread_of_the_last_run_of_the_same_experiment():
    summary = summarise(a_run(between=0.01, blocks=5))
    other = {"run_id": "other", "name": "another", "comparisons": [{"statistic": "median", "by_block": [1, 2, 4]}]}
    said = power.describe(a_plan(blocks=5), [other, summary.to_dict()])
    assert summary.run_id in said.sd_source
    assert 0.002 < said.sd < 0.05


def test_a_spread_is_never_that_of_a_disturbed_or_an_unlike_run():
    plan, summary = a_plan(blocks=5), summarise(a_run(between=0.01, blocks=5)).to_dict()
    shared = {**summary, "run_id": "shared", "warnings": [SHARED]}
    named = {**summary, "run_id": "named", "name": "another"}
    afar = {**named, "run_id": "afar", "plan": {**summary["plan"], "provider": "gcp"}}
    assert power.describe(plan, [shared, afar, named, summary]).sd_source == f"run {summary['run_id']}"
    assert power.describe(plan, [shared, afar, named]).sd_source == "run named"
    assert "default" in power.describe(plan, [shared, afar]).sd_source


def test_two_repeats_are_said_to_give_no_interval():
    said = power.describe(a_plan(blocks=2))
    assert said.smallest_detectable is None
    assert "no interval" in said.sentence
