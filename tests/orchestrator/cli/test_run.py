from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import errors
from orchestrator.cli.console import console
from orchestrator.cli.experiments import running
from orchestrator.cli.machine import hosts
from orchestrator.hosts.lifecycle import Receipt, Swept
from orchestrator.hosts.provision.infra import Infra
from orchestrator.measure.run import Result
from orchestrator.results.folder import RunFolder
from tests.support.plans import plan
from tests.support.printed import printed


@pytest.fixture(autouse=True)
def empty_folder(out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Infra, "check", lambda self: None)
    monkeypatch.setattr(Infra, "standing", lambda self: {})


def a_run() -> RunFolder:
    folder = RunFolder.create(plan(), command=["orch", "run"], root=Path("results"))
    folder.release()
    return folder


def test_without_a_plan_the_user_is_told_to_make_one():
    with pytest.raises(errors.UsageError, match="no current plan"):
        running.run(None)


def test_a_bare_run_names_its_plan_with_the_overrides(monkeypatch):
    current = replace(plan(), experiment_path="x.yaml", overrides=("repeats=3", "seed=2"))
    monkeypatch.setattr("orchestrator.experiment.store.current", lambda _: current)
    monkeypatch.setattr("orchestrator.experiment.store.is_stale", lambda _: None)
    said = []
    monkeypatch.setattr(console, "progress", said.append)
    running._plan_of(None, [])
    assert f"of x.yaml --set repeats=3 --set seed=2: {current.question}" in said[0]


def test_resume_without_a_run_is_refused():
    with pytest.raises(errors.UsageError, match="there is none under results/"):
        running.run(None, resume=True)


def test_set_cannot_change_a_run_that_has_begun():
    a_run()
    with pytest.raises(errors.UsageError, match="--set cannot change a run"):
        running.run(None, ["repeats=2"], resume=True)


def test_a_run_whose_plan_was_changed_is_not_resumed():
    folder = a_run()
    path = folder.path / "plan.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "seed": 99}))
    with pytest.raises(errors.InvalidMeasurement, match=r"plan\.json: not as it was written when the run began"):
        running.run(folder.id, resume=True)


def receipt(*left: str) -> Receipt:
    return Receipt(provider="local", created=("a",), left=left)


@pytest.mark.parametrize(
    ("result", "exit_code"),
    [
        ({}, None),
        ({"trials": 3, "failed_trials": 1}, 7),
        ({"trials": 3, "failed_trials": 1, "failed_checks": ("floor",)}, 5),
        ({"failed_checks": ("floor",), "receipt": receipt("h")}, 6),
    ],
)
def test_the_exit_code_says_the_worst_that_happened(result, exit_code):
    error = Result(folder=Path("results/x"), **result).error()
    assert (error.exit_code if error else None) == exit_code


def test_a_run_with_failed_trials_prints_one_json_document_that_names_it(out, monkeypatch):
    result = Result(folder=Path("results/x"), trials=2, failed_trials=1, receipt=receipt())
    monkeypatch.setattr(running, "_start", lambda file, overrides, **options: result)
    with pytest.raises(errors.TrialsFailed) as caught:
        running.run("x.yaml", as_json=True)
    console.error(caught.value)
    document = json.loads(out.said())
    assert (document["run"], document["error"]["exit_code"]) == ("x", 7)


def test_the_last_lines_name_the_run_folder_and_the_report(out, monkeypatch):
    result = Result(folder=Path("results/x"), report=Path("reports/x.html"), receipt=receipt())
    monkeypatch.setattr(running, "_start", lambda file, overrides, **options: result)
    running.run("x.yaml")
    assert out.said().splitlines() == ["run     results/x", "report  reports/x.html"]


def test_teardown_ends_with_a_receipt_however_often_it_is_called(out):
    folder = a_run()
    receipt = f"{folder.id}  receipt (local): 0 created"
    for run in (None, None, folder.id):
        hosts.teardown(run)
        assert out.said().splitlines()[-1].startswith(receipt)
    assert json.loads((folder.path / "receipt.json").read_text())["left"] == []


def test_teardown_of_everything_goes_through_all_runs(out):
    for everything in (False, True):
        hosts.teardown(None, everything=everything)
        assert out.said() == "nothing is up\n"
    ids = {a_run().id, a_run().id}
    hosts.teardown(None, everything=True, as_json=True)
    assert {r["run"] for r in json.loads(out.said())["receipts"]} == ids


def test_a_run_that_cannot_be_taken_down_keeps_no_other_from_it(out):
    damaged, whole = a_run(), a_run()
    (damaged.path / "plan.json").write_text("{")
    with pytest.raises(errors.TeardownIncomplete, match=rf"run {damaged.id}: .*plan\.json: cannot be read"):
        hosts.teardown(None, everything=True)
    assert out.said().startswith(f"{whole.id}  receipt")


def test_a_run_that_goes_on_is_ended_only_by_its_name(out):
    folder = RunFolder.create(plan(), command=["orch", "run"], root=Path("results"))
    hosts.teardown(None)
    assert f"{folder.id}  is still in progress in another orch process" in out.said()
    assert not (folder.path / "receipt.json").exists()
    hosts.teardown(folder.id)
    assert "receipt (local)" in out.said()


def test_what_was_made_elsewhere_is_named_and_ended_only_with_all(out, monkeypatch):
    swept = []
    monkeypatch.setattr(
        Infra, "standing", lambda self: {"o1": {"hosts": ["a"]}} if self.provider == "lab" and not swept else {}
    )
    monkeypatch.setattr(Infra, "sweep", lambda self, identity: swept.append(identity) or Swept(removed=("orch-o1-a",)))
    hosts.teardown(None)
    assert out.said() == "nothing is up\n"
    assert "o1 (lab: a) carries our label" in printed(console.err)
    assert swept == []
    hosts.teardown(None, everything=True)
    assert "o1  receipt (lab): 1 created, 1 destroyed, nothing left" in out.said()
    assert swept == ["o1"]


def test_a_provider_that_cannot_be_asked_is_no_provider_without_hosts(out, monkeypatch):
    def standing(self):
        if self.provider == "gcp":
            raise errors.ProvisionError("gcp: list failed: 403")
        return {}

    monkeypatch.setattr(Infra, "target", lambda self: {"project": "demo"})
    monkeypatch.setattr(Infra, "standing", standing)
    hosts.teardown(None)
    assert "gcp could not be asked what else is up: gcp: list failed: 403" in printed(console.err)
    with pytest.raises(errors.TeardownIncomplete, match="could not be asked what else is up"):
        hosts.teardown(None, everything=True)


def test_teardown_of_a_run_that_never_was_says_so():
    with pytest.raises(errors.UsageError, match="no run 'never'"):
        hosts.teardown("never")


def test_teardown_of_one_and_all_is_a_contradiction():
    with pytest.raises(errors.UsageError, match="not both"):
        hosts.teardown("x", everything=True)
