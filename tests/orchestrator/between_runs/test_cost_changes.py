"""What requests cost, compared between runs and within one: which changed, which did not, and where nobody can tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.between_runs.across import RunComparison, compare_runs
from orchestrator.between_runs.cost_changes import CostChange
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
