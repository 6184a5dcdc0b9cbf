"""Earlier runs that are equal to one, and what requests cost, compared between runs."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.between_runs.across import RunComparison, compare_runs
from orchestrator.between_runs.changes import Changed
from orchestrator.between_runs.measured_runs import equal_runs, read_summaries
from orchestrator.findings.check_result import CheckResult
from orchestrator.findings.summary import RunSummary
from orchestrator.findings.trial_values import COST_NAMES
from orchestrator.results.documents import sealed
from orchestrator.results.folder import RunFolder, runs
from orchestrator.statistics.terms import Reason, ReasonKind
from orchestrator.summarise import summarise
from tests.support.runs import a_plan, a_run, write_run


def summary(run_id, **knobs):
    return replace(summarise(a_run(**knobs)), run_id=run_id)


@pytest.fixture(scope="module")
def reference():
    return summary("reference")


def stored(run):
    return json.loads(run.to_json())


def ids(reference, *runs, without=()):
    return [run.run_id for run in equal_runs(reference, [stored(run) for run in runs], without=without)]


def test_a_repetition_is_equal_whatever_its_seed_and_name_are(reference):
    again = summary("again", plan=replace(a_plan(seed=9), name="another name", experiment_path="other.yaml"), seed=4)
    assert ids(reference, again) == ["again"]


FAILED = CheckResult(
    name="floor", verdict="fail", severity="fatal", cell=None, evidence={}, explanation="impossible", action=""
)


@pytest.mark.parametrize(
    "change",
    [
        {"state": "interrupted"},
        {"checks": (FAILED,)},
        {"conditions": (("CPU", "Another 9000"),)},
        {"settings": {"rest (thin)": {"responder_versions": {"thin": "2.0"}}}},
    ],
)
def test_what_differs_is_not_equal(reference, change):
    assert ids(reference, replace(summary("other"), **change)) == []


def test_its_means_are_of_each_cell_and_statistic_and_more_is_slower_in_all(reference):
    (slow,) = equal_runs(reference, [stored(summary("slow", base_us={"rest": 600.0}))], without=())
    (same,) = equal_runs(reference, [stored(summary("same"))], without=())
    for statistic in ("median", "p99", "throughput"):
        key = ("rest-thin__add__local__reuse__c1", statistic)
        assert slow.means[key] - same.means[key] == pytest.approx(0.69, abs=0.1)


def kept(root: Path, name: str, document: dict[str, Any] | str) -> RunFolder:
    """A run folder with a summary in it."""
    folder = RunFolder(write_run(a_run(blocks=3), root / name))
    (folder.path / "summary.json").write_text(document if isinstance(document, str) else json.dumps(document))
    return folder


def test_unreadable_and_changed_summaries_and_copies_are_passed_over(tmp_path, reference):
    root, document = tmp_path / "results", reference.to_dict()
    kept(root, "damaged", "{")
    kept(root, "older", sealed({**document, "schema_version": 0}))
    kept(root, "unsealed", document)
    kept(root, "edited", {**sealed(document), "question": "Another one?"})
    kept(root, "sound", sealed(document))
    shutil.copytree(root / "sound", root / "sound-copied")
    write_run(a_run(blocks=3), root / "without")
    assert [run["run_id"] for run in read_summaries(runs(root))] == ["reference"]


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


def costs(found: RunComparison, row: int = 0) -> dict[str, Changed]:
    return {cost.statistic: cost for cost in found.rows[row].costs}


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
