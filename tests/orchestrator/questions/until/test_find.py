"""When a run may end before its last block, and what its intervals are then."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from orchestrator.experiment.plan.plan import Plan, Until
from orchestrator.findings.compare import SHARE, error_of
from orchestrator.questions.until.find import QUESTION as UNTIL
from orchestrator.questions.until.find import expected_blocks, look
from orchestrator.results.turn_times import TrialMedian
from orchestrator.statistics.intervals import ALPHA
from orchestrator.summarise import summarise, summary_of
from tests.support.runs import MemoryRun, a_plan, a_run

WIDE, NARROW = 0.5, 0.02


def until(within: float, *, blocks: int, at_least: int = 3) -> Plan:
    return replace(a_plan(blocks=blocks), until=Until(within=within, at_least=at_least, at_most=blocks))


def medians(plan: Plan, *by_block: float) -> dict[int, dict[str, TrialMedian]]:
    """The reference takes 1 ms in every block, the other so much."""
    (reference, *_), (other, *_) = ([c.id for c in plan.cells if c.stack == s.id] for s in plan.stacks[:2])
    return {
        block: {cell: TrialMedian(median=median) for cell, median in ((reference, 1.0), (other, value))}
        for block, value in enumerate(by_block)
    }


def test_medians_in_turns_are_compared_turn_by_turn():
    """A block in which the machine is slow for half of the turns: joined medians move, ratios of neighbours do not."""
    plan = until(0.01, blocks=4)
    (reference, *_), (other, *_) = ([c.id for c in plan.cells if c.stack == s.id] for s in plan.stacks[:2])
    moods = [1.0, 1.0, 3.0, 3.0]
    values = {
        block: {
            cell: TrialMedian(median=joined, turns=tuple((10 * place, time * mood) for place, mood in enumerate(moods)))
            for cell, joined, time in ((reference, 1.0, 1.0), (other, 2.0 + block, 2.0))
        }
        for block in range(4)
    }
    assert look(plan, values, 3).reached


def cut(run: MemoryRun, blocks: int, *, state: str = "complete") -> MemoryRun:
    """The run as one that ended after so many blocks."""
    kept = replace(
        run.stored,
        state=state,
        trials=tuple(t for t in run.stored.trials if t.block < blocks),
        baselines=tuple(b for b in run.stored.baselines if b.block < blocks),
    )
    return replace(run, stored=kept)


def test_it_ends_at_the_first_look_at_which_each_interval_is_narrow_enough():
    plan = until(0.10, blocks=8)
    values = medians(plan, 2.0, 2.4, 2.0, 2.2, 2.2, 2.2, 2.2, 2.2)
    looks = [look(plan, values, blocks) for blocks in range(3, 8)]
    first = next(each.blocks for each in looks if each.reached)
    assert 3 < first < 8
    assert [each.widths[0].reaches for each in looks] == sorted(
        (w.reaches for each in looks for w in each.widths), reverse=True
    )


@pytest.mark.parametrize(
    ("ratios", "ends"), [([2.0, 2.02, 2.01], True), ([0.5, 0.51, 0.505], False), ([1.0, 1.2, 1.1], False)]
)
def test_a_gate_ends_where_a_stack_is_slower_beyond_doubt_however_wide_its_interval(ratios, ends):
    plan = until(0.01, blocks=4)
    values = medians(plan, *ratios, 1.0)
    assert plan.until is not None
    gate = replace(plan, until=replace(plan.until, or_slower=True))
    assert not look(plan, values, 3).reached
    assert look(gate, values, 3).reached is ends


def test_a_pair_without_three_values_is_never_narrow_enough():
    plan = until(0.10, blocks=6)
    values = medians(plan, *[2.0] * 6)
    for block in range(4):
        values[block].popitem()
    assert look(plan, values, 5).widths[0].reaches is None


def test_only_an_end_before_the_last_block_is_corrected_for():
    plan = until(0.10, blocks=8)
    assert error_of(plan, 7) == pytest.approx(ALPHA * SHARE)
    assert error_of(plan, 8) == ALPHA
    assert error_of(replace(plan, until=None), 3) == ALPHA


def test_a_narrower_interval_is_expected_to_take_more_blocks():
    few, many = (expected_blocks(until(within, blocks=100), 0.05) for within in (0.10, 0.03))
    assert 3 <= few < many < 100
    assert expected_blocks(until(0.001, blocks=30), 0.05) == 30


@pytest.fixture(scope="module")
def whole() -> MemoryRun:
    return a_run(until(WIDE, blocks=6))


def test_a_run_that_ended_by_the_rule_lacks_nothing_and_says_why_it_ended(whole):
    summary = summarise(cut(whole, 3))
    assert {c.verdict for c in summary.checks if c.name == "completeness"} == {"pass"}
    assert {cell.counts.planned_trials for cell in summary.cells} == {3}
    assert UNTIL.of(summary) is not None
    assert UNTIL.of(summary).blocks < UNTIL.of(summary).at_most
    assert all(width.reaches <= WIDE for width in UNTIL.of(summary).widths)
    assert "3 blocks of at most 6" in {each.kind: each.value for each in summary.conditions}["Repeats"]
    again = summary_of(json.loads(json.dumps(summary.to_dict())))
    assert UNTIL.of(again) == UNTIL.of(summary)
