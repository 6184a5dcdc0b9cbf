"""Earlier runs that are equal to one."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.between_runs.measured_runs import equal_runs, read_summaries
from orchestrator.findings.check_result import CheckResult
from orchestrator.findings.condition import Condition
from orchestrator.results.documents import sealed
from orchestrator.results.folder import RunFolder, runs
from orchestrator.summarise import summarise
from tests.support.findings import measured
from tests.support.runs import a_plan, a_run, write_run


def summary(run_id, **knobs):
    return measured(summarise(a_run(**knobs)), id=run_id)


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
    name="floor",
    verdict="fail",
    severity="fatal",
    cell=None,
    evidence={},
    points=(),
)


@pytest.mark.parametrize(
    "change",
    [
        {"checks": (FAILED,)},
        {"conditions": (Condition("CPU", "Another 9000"),)},
        {"settings": {"rest (thin)": {"responder_versions": {"thin": "2.0"}}}},
    ],
)
def test_what_differs_is_not_equal(reference, change):
    assert ids(reference, replace(summary("other"), **change)) == []


def test_an_interrupted_run_is_equal_to_none(reference):
    assert ids(reference, measured(summary("other"), state="interrupted")) == []


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
    assert [run["run"]["id"] for run in read_summaries(runs(root))] == ["reference"]
