"""Blocks whose trials hold too few requests for a percentile: where time ends a trial, those are the slow ones."""

from dataclasses import replace

import pytest

from orchestrator.between_runs.across import compare_runs, compare_within
from orchestrator.errors import Undecided
from orchestrator.experiment.plan.plan import Load
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from orchestrator.wording.gate import require_not_slower
from tests.support.runs import a_run

LOAD = Load(requests=1000, duration_s=0.2)  # whichever comes first


def cut_off_by_time(draft):
    """Every other trial of one stack ends after 900 requests."""
    if draft.block % 2 and "grpc" in draft.cell.stack:
        kept = draft.columns["sequence"] <= 950
        draft.columns = {name: values[kept] for name, values in draft.columns.items()}
        draft.done |= {"rows": 950, "requests": 900, "verified": 900}
        draft.stats["answered"] = 952


@pytest.fixture(scope="module")
def old():
    return replace(summarise(a_run(blocks=6, load=LOAD, seed=2)), run_id="old")


@pytest.fixture(scope="module")
def new():
    return replace(summarise(a_run(blocks=6, load=LOAD, spoil=cut_off_by_time)), run_id="new")


def test_stacks_are_not_compared_by_the_blocks_that_are_left(new):
    found = {c.statistic: c for c in new.comparisons}
    assert (found["p99"].standing, found["p99"].ratio, found["p99"].reason.kind) == (
        "cannot tell",
        None,
        ReasonKind.MISSING,
    )
    assert found["median"].interval
    assert found["throughput"].interval


@pytest.mark.parametrize("order", ["new against old", "old against new"])
def test_runs_are_not_compared_by_the_blocks_that_are_left(order, new, old):
    pair = (new, old) if order.startswith("new") else (old, new)
    row = next(r for r in compare_runs(*pair, "p99").rows if r.label.startswith("grpc"))
    assert (row.verdict, row.ratio, row.reason.kind) == ("cannot tell", None, ReasonKind.MISSING)


def test_the_gate_does_not_pass(new, old):
    for comparison in (compare_within(new, "p99"), compare_runs(new, old, "p99")):
        with pytest.raises(Undecided, match="3 of 6 blocks have no value"):
            require_not_slower(comparison, 1.0)
