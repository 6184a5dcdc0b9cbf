"""Two clocks of a host, read together before and after each trial: a step is one thing, another rate is another."""

import numpy as np
import pytest

from benchmarks.checks import injections
from tests.support.judged import of
from tests.support.runs import MS, a_run


def slower_by(share, blocks=range(5)):
    def spoil(draft):
        if draft.block in blocks:
            injections.slow_the_clock_down(draft, share, np.random.default_rng(1))

    return spoil


def stepped(blocks, step_ns=400 * MS):
    def spoil(draft):
        if draft.block in blocks:
            draft.done["anchor_end"]["wall_ns"] += step_ns if draft.block % 2 else -step_ns // 3

    return spoil


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_a_clock_that_is_slow_in_most_trials_fails(share):
    found = of(a_run(spoil=slower_by(share)), "clocks")
    assert {result.verdict for result in found} == {"fail"}
    assert "not count seconds" in found[0].explanation


@pytest.mark.parametrize("blocks", [(1,), (0, 1, 2, 3)])
def test_a_wall_clock_that_was_set_warns(blocks):
    assert {result.verdict for result in of(a_run(spoil=stepped(blocks)), "clocks")} == {"warn"}
