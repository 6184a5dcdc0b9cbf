"""What requests cost, compared between runs and within one: which changed, which did not, and where nobody can tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.between_runs.across import RunComparison, compare_runs, compare_within
from orchestrator.between_runs.cost_changes import CostChange
from orchestrator.between_runs.measured_runs import equal_runs
from orchestrator.findings.check_result import CheckResult
from orchestrator.findings.cost import COST_NAMES
from orchestrator.findings.summary import RunSummary
from orchestrator.statistics.terms import Reason, ReasonKind
from orchestrator.summarise import summarise
from tests.support.runs import a_run

CPU, BYTES = "responder_cpu", "wire_bytes"


def a_summary(run_id: str, *, cpu: float = 1.0, sent: int = 90, spoil: Any = None, **knobs: Any) -> RunSummary:
    """Two stacks whose requests cost what is given: a factor on 0.4 s of the responder's CPU, and bytes sent."""

    def known(draft: Any) -> None:
        n = draft.done["requests"]
        draft.stats_before["cpu_s"], draft.stats_warm["cpu_s"] = 0.5, 9.5
        draft.stats["cpu_s"] = 9.5 + cpu * 400e-6 * n * (1 + 0.002 * draft.block)
        draft.done["wire"] |= {"bytes_sent": sent * n, "bytes_received": 110 * n}
        if spoil:
            spoil(draft)

    return replace(summarise(a_run(spoil=known, **knobs)), run_id=run_id)


@pytest.fixture(scope="module")
def old() -> RunSummary:
    return a_summary("old")


def costs(found: RunComparison, row: int = 0) -> dict[str, CostChange]:
    return {cost.quantity: cost for cost in found.rows[row].costs}


def test_each_row_says_what_its_requests_cost(old: RunSummary) -> None:
    found = costs(compare_runs(a_summary("new", cpu=1.5, sent=45, seed=2), old, "p99"))
    assert list(found) == list(COST_NAMES)
    cpu, sent = found[CPU], found[BYTES]
    assert cpu.verdict == "more"
    assert cpu.ratio == pytest.approx(1.5)
    assert cpu.interval is not None
    assert cpu.interval[0] > 1.05
    assert cpu.value == pytest.approx(0.6, rel=0.01)
    assert cpu.reference_value == pytest.approx(0.4, rel=0.01)
    assert sent.verdict == "less"
    assert sent.ratio == pytest.approx(155 / 200)


def test_what_is_alike_is_unchanged_where_it_is_counted_and_otherwise_not_resolved(old: RunSummary) -> None:
    found = costs(compare_runs(a_summary("new", seed=2), old, "median"))
    assert (found[BYTES].verdict, found[BYTES].interval) == ("unchanged", (1.0, 1.0))
    assert found[CPU].verdict == "not resolved"  # 3 % are assumed to lie between equal runs


def test_equal_runs_take_the_place_of_the_assumption(old: RunSummary) -> None:
    others = [a_summary(f"h{number}", cpu=1 + number / 500, seed=number + 5) for number in range(6)]
    history = equal_runs(old, [other.to_dict() for other in others], without=["new"])
    assert len(history) == 6
    found = costs(compare_runs(a_summary("new", seed=2), old, "median", history))
    assert found[CPU].verdict == "unchanged"


def test_a_floor_that_moved_widens_cpu_times_alone(old: RunSummary) -> None:
    new = a_summary("new", cpu=1.3, sent=60, seed=2)
    before = costs(compare_runs(new, old, "median"))
    floors = tuple(replace(floor, medians=tuple(m * 1.2 for m in floor.medians)) for floor in new.floors)
    after = costs(compare_runs(replace(new, floors=floors), old, "median"))
    assert (before[CPU].verdict, after[CPU].verdict) == ("more", "not resolved")
    assert before[BYTES].interval == after[BYTES].interval


def test_what_forbids_a_verdict_on_time_forbids_one_on_costs(old: RunSummary) -> None:
    failed = CheckResult(
        name="floor", verdict="fail", severity="fatal", cell=None, evidence={}, explanation="impossible", action=""
    )
    new = a_summary("new", cpu=2.0, seed=2)
    found = costs(compare_runs(replace(new, checks=(*new.checks, failed)), old, "median"))
    assert found[CPU].verdict == "cannot tell"
    assert found[CPU].reason == Reason(kind=ReasonKind.DOUBTED, names=("more",))


@pytest.mark.parametrize("few", ["blocks", "a trial without"])
def test_without_an_interval_the_figures_stand_alone(old: RunSummary, few: str) -> None:
    def without(draft: Any) -> None:
        if few == "a trial without" and draft.block == 1:
            draft.stats["cpu_s"] = None

    blocks = 2 if few == "blocks" else 5
    found = costs(compare_runs(a_summary("new", spoil=without, blocks=blocks, seed=2), old, "median"))
    assert (found[CPU].verdict, found[CPU].ratio, found[CPU].interval) == ("cannot tell", None, None)
    assert found[CPU].reference_value == pytest.approx(0.4, rel=0.01)
    assert (found[CPU].value is None) == (few == "a trial without")


def test_what_neither_run_has_counted_is_left_out(old: RunSummary) -> None:
    def uncounted(draft: Any) -> None:
        draft.done["wire"] = None

    new, other = (a_summary(name, spoil=uncounted) for name in ("new", "other"))
    assert not {BYTES, "packets"} & costs(compare_runs(new, other, "median")).keys()


def test_the_stacks_of_one_run_are_compared_as_its_report_does(old: RunSummary) -> None:
    found = compare_within(old, "throughput")
    of_summary = {c.statistic: c for c in old.costs}
    assert {name: (cost.ratio, cost.interval, cost.verdict) for name, cost in costs(found).items()} == {
        name: (c.ratio, c.interval, c.standing) for name, c in of_summary.items()
    }
    assert found.to_dict()["rows"][0]["costs"][0]["quantity"] == COST_NAMES[0]
