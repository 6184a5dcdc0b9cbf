"""The one rule for faster, slower, a tie and not resolved, its wording, and how often it is wrong."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from orchestrator.statistics import intervals
from orchestrator.statistics.equivalence import reason, standing
from orchestrator.statistics.terms import ReasonKind

RATIOS = some.floats(min_value=1e-3, max_value=1e3)
INTERVALS = some.tuples(RATIOS, RATIOS).map(lambda pair: (min(pair), max(pair)))


@pytest.mark.parametrize(
    ("interval", "margin", "outcome"),
    [
        (None, 0.05, "cannot tell"),
        ((0.97, 1.04), 0.05, "tie"),
        ((1.01, 1.04), 0.05, "tie"),  # a difference, which does not matter
        ((1 / 1.05, 1.05), 0.05, "tie"),
        ((0.95, 1.04), 0.05, "not resolved"),  # 1/1.05 is 0.952: the margin is the same factor to either side
        ((0.97, 1.45), 0.05, "not resolved"),
        ((0.97, 1.45), 0.5, "tie"),
        ((1.01, 1.30), 0.05, "slower"),
        ((0.70, 0.99), 0.05, "faster"),
        ((1.00, 1.30), 0.05, "not resolved"),
    ],
)
def test_an_interval_and_a_margin_give_one_standing(interval, margin, outcome):
    assert standing(interval, margin) == outcome


def test_what_is_no_further_from_one_than_the_reference_from_itself_is_not_resolved():
    assert standing((1.08, 1.12), 0.05, envelope=log(1.2)) == "not resolved"
    assert standing((1.08, 1.12), 0.05, envelope=log(1.02)) == "slower"
    assert standing((0.99, 1.01), 0.05, envelope=log(1.02)) == "tie"
    assert standing((0.99, 1.01), 0.05, envelope=log(1.2)) == "not resolved"
    for interval in ((1.08, 1.12), (0.99, 1.01)):
        outcome = reason(interval, 0.05, envelope=log(1.2))
        assert (outcome.kind, outcome.numbers) == (ReasonKind.CONTROL, {"difference": pytest.approx(0.2)})


@given(INTERVALS, some.floats(min_value=0.001, max_value=1.0), some.floats(min_value=0.0, max_value=1.0))
def test_turning_the_ratio_over_turns_the_standing_over(interval, margin, envelope):
    low, high = interval
    over = {"faster": "slower", "slower": "faster"}
    edges = (1 / (1 + margin), 1 + margin, 1.0)
    if any(abs(bound / edge - 1) < 1e-9 for bound in interval for edge in edges):
        return  # 1 / (1 / x) is not x to the last bit
    if abs(abs(log(low * high) / 2) - envelope) < 1e-9:
        return
    outcome = standing(interval, margin, envelope=envelope)
    assert standing((1 / high, 1 / low), margin, envelope=envelope) == over.get(outcome, outcome)


@given(INTERVALS, some.floats(min_value=0.001, max_value=1.0))
def test_a_tie_is_never_claimed_of_what_may_differ_by_more_than_the_margin(interval, margin):
    is_tie = standing(interval, margin) == "tie"
    assert is_tie == (interval[0] >= 1 / (1 + margin) and interval[1] <= 1 + margin)


# ---- how often it is wrong: whole simulated runs of blocks, with a fixed seed

RUNS = 4_000


def shares(true_ratio, *, sd, blocks, margin=0.05, seed=1):
    """The share of simulated runs with each standing, where the log ratio of a block has this SD."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(log(true_ratio), sd, (RUNS, blocks))
    outcome = [standing(intervals.log_mean(row).interval(), margin) for row in logs]
    return {name: outcome.count(name) / RUNS for name in ("tie", "faster", "slower", "not resolved", "cannot tell")}


@pytest.mark.parametrize("blocks", [3, 5, 10])
@pytest.mark.parametrize("sd", [0.01, 0.05, 0.15, 0.40])
def test_stacks_that_are_a_fifth_slower_are_hardly_ever_called_a_tie(sd, blocks):
    assert shares(1.2, sd=sd, blocks=blocks)["tie"] <= 0.005


@pytest.mark.parametrize("blocks", [3, 5, 10])
@pytest.mark.parametrize("sd", [0.002, 0.01, 0.03, 0.10])
@pytest.mark.parametrize("margin", [0.05, pytest.param(0.20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("side", [1, -1])
def test_at_the_margin_itself_a_tie_is_called_in_at_most_one_run_of_twenty(margin, sd, blocks, side):
    assert shares((1 + margin) ** side, sd=sd, blocks=blocks, margin=margin)["tie"] <= 0.05


def test_equal_stacks_are_called_a_tie_where_the_blocks_suffice_and_not_resolved_where_not():
    assert shares(1.0, sd=0.01, blocks=5)["tie"] > 0.9
    assert shares(1.0, sd=0.10, blocks=3)["not resolved"] > 0.9


@pytest.mark.parametrize(
    ("interval", "by_block", "compared", "kind"),
    [
        ((0.0001, 9_000.0), (1.0, 1.02, 1.01), 42, ReasonKind.CORRECTED),
        ((0.0001, 9_000.0), (1.0, 1.02, 1.01), 1, ReasonKind.NOISY),
        ((0.0001, 9_000.0), (0.1, 1.0, 9.0), 42, ReasonKind.NOISY),
        ((0.9, 1.2), (0.9, 1.0, 1.2), 42, ReasonKind.OPEN),
    ],
)
def test_an_open_interval_is_put_down_to_what_makes_it_wide(interval, by_block, compared, kind):
    assert reason(interval, by_block=by_block, compared=compared).kind is kind


@given(INTERVALS, some.floats(min_value=0.001, max_value=1.0), some.floats(min_value=0.0, max_value=1.0))
def test_there_is_a_reason_exactly_where_nothing_is_decided(interval, margin, envelope):
    outcome = reason(interval, margin, envelope=envelope)
    assert (outcome is not None) == (standing(interval, margin, envelope=envelope) == "not resolved")
