"""A run that ends as soon as its intervals are narrow enough: decided between blocks, written down, and checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import errors
from orchestrator.experiment.plan.plan import Plan, Until
from orchestrator.measure.progress import shown
from orchestrator.measure.remaining import status
from orchestrator.results.folder import verify
from orchestrator.results.manifest import DecisionRecord
from tests.orchestrator.measure.test_run import Lab
from tests.support.hosts import FakeProcess, Line, checked_line, done_line, good_requester, interrupted, rows, script
from tests.support.plans import plan

N = 10


def a_plan(within: float, *, at_most: int = 8) -> Plan:
    return replace(plan("tcp", "rest", repeats=at_most), until=Until(within=within, at_least=3, at_most=at_most))


@pytest.fixture
def lab(no_analysis: None, tmp_path: Path) -> Lab:
    lab = Lab(tmp_path)
    lab.host.requester = lambda number: answered(number)
    return lab


def answered(number: int):
    """A requester to which REST answers in 2 ms, and in a little more or less by the number of its process."""

    def talk(process: FakeProcess) -> Iterator[Line]:
        if process.trial["protocol"] == "tcp" or process.trial["load"]["requests"] == 0:
            yield from good_requester(process)
            return
        yield checked_line()
        yield {"type": "start", "anchor": {"wall_ns": 0, "monotonic_ns": 0}}
        if process.trial["hold"]:
            yield {"type": "warm", "requests": 0}
        Path(process.trial["record"]).write_bytes(rows(N, rtt_ns=2_000_000 + 30_000 * (number % 7)))
        yield done_line(N)

    return talk


def decisions(lab: Lab) -> list[DecisionRecord]:
    return list(lab.runs.manifest().decisions)


def test_it_ends_after_the_first_block_at_which_intervals_are_narrow_enough(lab):
    result = lab.run(a_plan(0.5))
    manifest = lab.runs.manifest()
    assert (result.is_complete, manifest.state, result.trials) == (True, "complete", 6)
    assert {trial.block for trial in manifest.trials} == {0, 1, 2}
    (decision,) = decisions(lab)
    assert (decision.blocks, decision.reached) == (3, True)
    assert any("block 3 of at most 8, widest interval" in line for line in lab.console.lines)
    assert "journal.jsonl" in verify(lab.runs)


def test_it_makes_every_block_where_intervals_stay_wide(lab):
    result = lab.run(a_plan(0.001, at_most=5))
    assert (result.is_complete, result.trials) == (True, 10)
    assert [(d.blocks, d.reached) for d in decisions(lab)] == [(3, False), (4, False)], "none after the last one"


def test_a_run_that_was_cut_decides_the_same_when_it_goes_on(lab):
    planned = a_plan(0.5)
    lab.host.requester = lambda number: script(interrupted()) if number == 9 else answered(number)
    with pytest.raises(errors.Interrupted):
        lab.run(planned)
    lab.host.requester = answered
    assert lab.run(planned).is_complete
    assert [(d.blocks, d.reached) for d in decisions(lab)] == [(3, True)]
    assert {trial.block for trial in lab.runs.manifest().trials} == {0, 1, 2}


def test_who_watches_is_told_how_wide_intervals_are_and_what_time_is_left(lab):
    planned = a_plan(0.001, at_most=5)
    lab.run(planned)
    seen = shown(lab.runs.id, planned, lab.runs.journal_state(), lab.time.clock())
    assert seen.width.startswith("block 4 of at most 5, widest interval ± ")
    assert seen.width.endswith(" % of ± 0.1 % wanted")


def test_an_interval_that_cannot_be_computed_is_named():
    decision = DecisionRecord(blocks=9, reached=False, reaches=(None,))
    assert "1 of 1 intervals cannot be computed yet" in status(a_plan(0.03, at_most=50), decision)


@pytest.mark.parametrize(
    ("reaches", "said"), [(0.041, "± 4.1 %"), (1.234, "± 123 %"), (9.0, "± 900 %"), (3e4, "more than ± 900 %")]
)
def test_a_wide_interval_is_said_in_plain_figures(reaches, said):
    """After three blocks intervals of several pairs reach beyond 100 %."""
    wide = DecisionRecord(blocks=3, reached=False, reaches=(0.02, reaches))
    assert status(a_plan(0.03), wide) == f"block 3 of at most 8, widest interval {said} of ± 3 % wanted"
