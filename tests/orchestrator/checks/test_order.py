"""The order in which trials were made is the planned one, and favours nobody."""

from dataclasses import replace

import pytest

from benchmarks.checks import injections as to
from orchestrator.experiment.plan import plan as p
from tests.support.judged import of, verdicts
from tests.support.runs import S, a_plan, a_run

ORDER = "order"
STACKS = ("rest", "grpc", "websocket")


@pytest.mark.parametrize("blocks", [1, 2, 3, 4, 5, 7, 10])
@pytest.mark.parametrize("stacks", [STACKS[:2], STACKS, (*STACKS, "cbor"), (*STACKS, "cbor", "avro")])
def test_balanced_orders_pass_after_any_number_of_blocks(stacks, blocks):
    for seed in (1, 2):
        assert verdicts(a_run(stacks=stacks, blocks=blocks, seed=seed, load=p.Load(requests=60)))[ORDER] == "pass"


def test_two_trials_swapped_by_the_clock_fail_and_the_block_is_named():
    (result,) = of(a_run(stacks=STACKS, spoil=lambda draft: to.turn_blocks_round(draft, 1, None)), ORDER)
    assert result.verdict == "fail"
    assert result.evidence["made"] == result.evidence["planned"][::-1]
    assert result.explanation.startswith("By the requester's clock on localhost, the trials of block 1 did not run")


def test_without_anchors_the_wall_clock_tells():
    def nothing_said(draft):
        del draft.done["anchor"]

    run = a_run(stacks=STACKS, spoil=nothing_said)
    assert verdicts(run)[ORDER] == "pass"
    trials = [replace(t, started_wall_ns=t.started_wall_ns - 100 * S * (t.index == 2)) for t in run.stored.trials]
    run.stored = replace(run.stored, trials=tuple(trials))
    (result,) = of(run, ORDER)
    assert (result.verdict, result.evidence["witness"]) == ("fail", "the wall clock")


@pytest.mark.parametrize("stacks", [STACKS[:2], STACKS, (*STACKS, "cbor")])
def test_a_stack_that_always_stands_before_the_reference_is_a_warning(stacks):
    (result,) = of(a_run(a_plan(stacks=stacks, blocks=5, fixed=5)), ORDER)
    assert result.verdict == "warn"
    assert "in 5 of 5 blocks" in result.explanation


def test_a_stack_that_keeps_its_place_is_a_warning_though_none_stands_before_it_too_often():
    """The middle one of three, with the others taking turns before and behind it."""
    plan = a_plan(stacks=STACKS, blocks=6)
    by_block = [[t for t in plan.trials if t.block == block] for block in range(6)]
    listed = [sorted(trials, key=lambda t: t.cell, reverse=bool(number % 2)) for number, trials in enumerate(by_block)]
    trials = tuple(replace(t, index=i) for i, t in enumerate(t for trials in listed for t in trials))
    (result,) = of(a_run(replace(plan, trials=trials)), ORDER)
    assert result.verdict == "warn"
    assert "ran as number 2 of its placement in 6 of 6 blocks" in result.explanation
