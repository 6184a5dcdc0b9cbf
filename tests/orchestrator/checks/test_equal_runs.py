"""Equal runs are called changed in at most 5 % of pairs, whatever the load does."""

import pytest

from orchestrator.between_runs.across import compare_runs
from orchestrator.errors import Regression
from orchestrator.wording.gate import judge
from tests.support.machine import LOADS, Machine

PAIRS = 200
MOST = 0.05
STATISTICS = ("median", "p99", "throughput")


def days(load="steady", excess=1.3, trial_sd=0.03):
    """Twenty runs a day on one machine, whose load takes the same course every day."""
    for day in range(PAIRS // 10):
        machine = Machine(load=LOADS[load], excess=excess, trial_sd=trial_sd, seed=day)
        yield [machine.run() for _ in range(20)]


def consecutive(*machine):
    """Pairs (new, old) of equal runs, one made just after the other."""
    return [(runs[i + 1], runs[i]) for runs in days(*machine) for i in range(0, 20, 2)]


def far_apart(*machine):
    """Pairs of equal runs with nine others made between them."""
    return [(runs[i + 10], runs[i]) for runs in days(*machine) for i in range(10)]


def changed(machine, **slower):
    """Pairs of which the new run has some protocols slower, the old one not."""
    return [(machine.run(slower=slower), old) for old in (machine.run() for _ in range(PAIRS))]


def share_changed(pairs, statistic):
    called = [
        any(row.verdict in ("improved", "regressed") for row in compare_runs(new, old, statistic).rows)
        for new, old in pairs
    ]
    return sum(called) / len(called)


@pytest.mark.parametrize(
    ("chosen", "load", "excess"),
    [
        (consecutive, "falling", 3.0),
        pytest.param(far_apart, "falling", 1.3, marks=pytest.mark.slow),
        pytest.param(consecutive, "steady", 1.3, marks=pytest.mark.slow),
        pytest.param(far_apart, "sawtooth", 3.0, marks=pytest.mark.slow),
        pytest.param(consecutive, "sawtooth", 1.3, marks=pytest.mark.slow),
    ],
)
def test_equal_runs_are_rarely_called_changed(chosen, load, excess):
    pairs = chosen(load, excess)
    assert {s: share for s in STATISTICS if (share := share_changed(pairs, s)) > MOST} == {}


def test_the_gate_fails_equal_runs_rarely_and_never_passes_slower_ones():
    def ended(new, old):
        return type(judge(compare_runs(new, old, "median"), 0.05).error)

    equal = [ended(*pair) for pair in consecutive("falling", 2.0)]
    assert equal.count(Regression) / PAIRS <= MOST / 2
    slower = [ended(*pair) for pair in changed(Machine(excess=3.0), grpc=1.1)]
    assert slower.count(type(None)) / PAIRS <= MOST / 2
