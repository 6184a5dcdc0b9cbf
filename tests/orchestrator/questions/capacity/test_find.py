"""Found rates: the truth is known, and is found; what cannot be told is not told."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import log

import numpy as np
import pytest

from orchestrator.experiment.model.goal import Goal
from orchestrator.experiment.plan.loads import next_step, search_bounds
from orchestrator.experiment.plan.plan import Cell, Find, Plan
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.capacity import words as rate_words
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.capacity.find import FoundRate, Search, interval_of, median_of
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import explanation
from tests.support.runs import a_plan
from tests.support.searched import (
    P50,
    Capacity,
    a_search_run,
    cut,
    searching,
    timed_out,
    unsent,
    waiting,
    wrong,
)

FIND = Find(goals=P50, lowest=100.0, highest=1600.0, steps=40)
TRUE = {"rest": 400.0, "grpc": 800.0}


def a_search(*stacks: str, repeats: int = 5, controls: int = 0, find: Find = FIND) -> Plan:
    return searching(a_plan(stacks=stacks or ("rest", "grpc"), controls=controls, warmup=20), find, repeats=repeats)


def capacity(noise: float = 0.01, **true: float) -> Capacity:
    def true_rate(cell: Cell, _repeat: int, rng: np.random.Generator) -> float:
        return {**TRUE, **true}[str(cell.factors["protocol"])] * float(np.exp(rng.normal(0, noise)))

    return true_rate


@cache
def summary() -> RunSummary:
    cpu = {"rest": (0.97, 0.5), "grpc": (0.95, 0.9)}
    return summarise(a_search_run(a_search(), capacity(), cpu=cpu))


def row_of(rate: FoundRate) -> tuple[str, ...]:
    return rate_words.row(rate, ())


def test_the_true_rates_are_found_with_intervals_that_hold_them():
    for rate in CAPACITY.of(summary()).rates:
        true = TRUE[rate.stack_label.partition(" ")[0]]
        assert rate.rate_per_s == pytest.approx(true, rel=0.08)
        assert rate.interval is not None
        assert rate.interval[0] < true < rate.interval[1]
        assert (rate.side, rate.invalid) == ("", ())
        assert len(rate.ended) == len(rate.searches) == 5


def test_what_limits_just_above_is_named_by_cpu_evidence():
    limits = {run.stack_label: run.limit for run in CAPACITY.of(summary()).rates}
    assert limits == {"rest (thin)": "responder", "grpc (thin)": "both"}
    assert "the responder's CPU limits it" in row_of(CAPACITY.of(summary()).rates[0])[-1]


@pytest.mark.slow
def test_equal_stacks_tie_where_the_interval_is_within_what_matters():
    fine = Find(goals=P50, lowest=300.0, highest=600.0, steps=62)
    plan = replace(a_search(find=fine, repeats=6), matters=0.05)
    (comparison,) = CAPACITY.of(summarise(a_search_run(plan, capacity(0.005, grpc=400.0)))).comparisons
    assert comparison.standing == "tie"
    (wide,) = CAPACITY.of(summarise(a_search_run(replace(plan, matters=0.01), capacity(0.005, grpc=400.0)))).comparisons
    assert wide.standing == "not resolved"


@pytest.mark.slow
def test_a_goal_that_holds_nowhere_and_one_that_holds_everywhere_are_said_plainly():
    run = summarise(a_search_run(a_search(), capacity(rest=40.0, grpc=9000.0)))
    rest, grpc = CAPACITY.of(run).rates
    assert (rest.rate_per_s, rest.side, rest.interval) == (100.0, "below", None)
    assert row_of(rest)[1] == "below 100/s"
    assert (grpc.rate_per_s, grpc.side, grpc.interval) == (1600.0, "at least", None)
    assert row_of(grpc)[1] == "at least 1600/s"
    (comparison,) = CAPACITY.of(run).comparisons
    assert comparison.standing == "more", "one side is below, the other above"


@pytest.mark.slow
def test_a_rate_that_the_requester_limits_says_nothing_of_its_responder():
    cpu = {"rest": (0.5, 0.99), "grpc": (0.97, 0.5)}
    run = summarise(a_search_run(a_search(), capacity(), cpu=cpu))
    rest, _ = CAPACITY.of(run).rates
    assert rest.limit == "requester"
    assert "the requester's CPU limits it: the responder may do more" in row_of(rest)[-1]
    (comparison,) = CAPACITY.of(run).comparisons
    assert comparison.standing == "cannot tell"
    slow = summarise(a_search_run(a_search(), capacity(grpc=200.0), cpu=cpu))
    assert [c.standing for c in CAPACITY.of(slow).comparisons] == ["less"], "the reference may only be further ahead"


def test_a_rate_that_was_not_offered_is_not_held_however_quick_the_replies():
    run = a_search_run(a_search("rest", repeats=3), capacity(), spoil=unsent)
    (rest,) = CAPACITY.of(summarise(run)).rates
    assert rest.rate_per_s == pytest.approx(400, rel=0.08)


def test_requests_that_fail_above_the_capacity_make_nothing_invalid_and_a_wrong_reply_does():
    p90 = replace(FIND, goals=(Goal(statistic="p90", below=0.01),))
    planned = a_search("rest", repeats=3, find=p90)
    run = summarise(a_search_run(planned, capacity(), spoil=timed_out))
    assert [check.name for check in run.checks if check.verdict == "fail"] == []
    assert CAPACITY.of(run).rates[0].invalid == ()
    assert CAPACITY.of(run).rates[0].rate_per_s == pytest.approx(400, rel=0.08)
    excused = {check.name for check in run.checks if explanation(check).startswith("A search tried this rate")}
    assert excused == {"reply", "connections"}
    faulty = summarise(a_search_run(planned, capacity(), spoil=wrong))
    assert CAPACITY.of(faulty).rates[0].invalid == ("reply",)


@pytest.mark.parametrize(("most", "limit"), [(None, "late sends"), (8, "in flight")])
def test_requests_that_wait_to_be_sent_are_no_limit_of_the_responder(most, limit):
    planned = a_search("rest", "grpc", find=replace(FIND, concurrency=most), repeats=3)
    run = summarise(a_search_run(planned, capacity(0.0), spoil=waiting(most)))
    rest, grpc = CAPACITY.of(run).rates
    assert (rest.limit, grpc.limit, rest.is_requesters) == (limit, limit, True)
    assert [c.standing for c in CAPACITY.of(run).comparisons] == ["cannot tell"]


def test_a_search_that_was_cut_counts_for_nothing_and_is_said_to_be():
    planned = a_search()
    run = summarise(cut(a_search_run(planned, capacity()), 4 * planned.rounds + 2))
    rest, _ = CAPACITY.of(run).rates
    assert (len(rest.searches), len(rest.ended)) == (5, 4)
    assert "1 search without a result" in row_of(rest)[-1]
    assert rest.searches[-1].why_none == "the run was cut"


def test_fewer_than_three_searches_have_no_interval():
    run = summarise(a_search_run(a_search(repeats=2), capacity()))
    assert [rate.interval for rate in CAPACITY.of(run).rates] == [None, None]
    assert "no interval: fewer than 3 searches" in row_of(CAPACITY.of(run).rates[0])[-1]
    assert [c.standing for c in CAPACITY.of(run).comparisons] == ["cannot tell"]


# ---- how well a search finds: its error, and the coverage of its interval


def one_search(rng: np.random.Generator, find: Find, log_true: float, width: float, spurious: float) -> Search:
    """A search in which a rate holds with a probability that falls from 1 to 0 around the true one (logistic).

    At the true rate it is a half. `spurious`: how often a trial misses its goal for no reason.
    """
    held: list[bool] = []
    while (step := next_step(find, held)) is not None:
        beyond = min((log(find.rate(step)) - log_true) / width, 50.0)
        chance = (1 - spurious) / (1 + np.exp(beyond))
        held.append(bool(rng.random() < chance))
    low, high = search_bounds(find, held)
    return Search(
        repeat=0,
        held_per_s=None if low < 0 else find.rate(low),
        missed_per_s=None if high > find.steps else find.rate(high),
    )


@pytest.mark.parametrize(
    ("repeats", "width", "spurious"),
    [(5, 0.001, 0.0), (5, 0.02, 0.0), (5, 0.05, 0.0), (5, 0.02, 0.02), (10, 0.05, 0.0)],
)
def test_the_median_is_near_the_truth_and_the_interval_covers_it(repeats, width, spurious):
    find = Find(goals=P50, lowest=100.0, highest=8000.0, steps=221)
    rng = np.random.default_rng(7)
    errors, covered, known, runs = [], 0, 0, 400
    for _ in range(runs):
        log_true = rng.uniform(log(200), log(5000))
        searches = [one_search(rng, find, log_true, width, spurious) for _ in range(repeats)]
        rate, side = median_of(find, searches)
        assert rate is not None
        errors.append(abs(log(rate) - log_true) if side == "" else np.inf)
        interval = interval_of(find, searches)
        if interval is not None:
            known += 1
            covered += log(interval[0]) <= log_true <= log(interval[1])
    assert np.median(errors) < 0.02 + width
    assert np.quantile(errors, 0.95) < 0.03 + 4 * width
    assert known >= 0.95 * runs
    assert covered >= 0.93 * known
