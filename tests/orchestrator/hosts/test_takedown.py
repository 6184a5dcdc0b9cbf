"""What a receipt may claim: nothing of what was not looked at, and nothing of another project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import MissingError, ProvisionError, UsageError
from orchestrator.hosts.base import Completed
from orchestrator.hosts.provision import infra
from orchestrator.hosts.provision.deployments import Intent, Registry, deployment_id
from orchestrator.hosts.provision.infra import Infra
from orchestrator.hosts.provision.takedown import overview, take_down
from orchestrator.hosts.provision.terraform import Terraform
from orchestrator.workspace import Workspace

REGISTRY = Registry(Workspace().deployments)
ID = deployment_id("run")
MADE_IN: dict[str, str | None] = {"project": "demo", "endpoint": "https://api/"}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Program:
    """What the provider's program answers, by verb; an exception is raised. It writes down what it was asked."""

    def __init__(self, **answers: Any) -> None:
        hosts = {"a": {"alive": True, "why": None, "expires_at": 9}}
        status = {"hosts": hosts, "link": {"kind": "network", "alive": True, "why": None}, "replace": []}
        self.answers = {
            "target": {"target": MADE_IN, "set_by": {"project": "GOOGLE_PROJECT"}},
            "status": status,
            "sweep": {"removed": [], "left": [], "unknown": []},
            **answers,
        }
        self.verbs: list[str] = []

    def __call__(self, *words: str) -> Any:
        self.verbs.append(words[0])
        answer = self.answers[words[0]]
        if isinstance(answer, Exception):
            raise answer
        return answer


def answering(monkeypatch: pytest.MonkeyPatch, **answers: Any) -> Program:
    program = Program(**answers)
    monkeypatch.setattr(Infra, "_ask", lambda _infra, *words: program(*words))
    return program


def project(name: str | None) -> dict[str, Any]:
    return {"target": {**MADE_IN, "project": name}, "set_by": {"project": "GOOGLE_PROJECT"}}


def written(**changes: Any) -> Intent:
    intent = Intent(
        id=ID,
        run_id="run",
        provider="gcp",
        hosts=("a", "b"),
        created_at=1.0,
        expires_at=2.0,
        cost_usd_per_h=None,
        state="up",
        target=MADE_IN,
    )
    REGISTRY.write(replace(intent, **changes))
    return replace(intent, **changes)


def state() -> str:
    intent = REGISTRY.read(ID)
    return intent.state


def test_when_all_was_looked_at_and_nothing_is_there_it_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch)
    receipt = take_down(REGISTRY, written())
    assert (receipt.destroyed, receipt.open, state()) == (("a", "b"), (), "down")


@pytest.mark.parametrize("named", ["other", None])
def test_another_project_is_refused_by_name_and_not_asked(monkeypatch: pytest.MonkeyPatch, named: str | None) -> None:
    program = answering(monkeypatch, target=project(named))
    with pytest.raises(UsageError, match=r"made in project demo, and this environment names .*GOOGLE_PROJECT=demo"):
        take_down(REGISTRY, written())
    assert program.verbs == ["target"]
    assert state() == "up"


def test_what_could_not_be_seen_is_in_the_receipt_and_it_is_not_down(monkeypatch: pytest.MonkeyPatch) -> None:
    unseen = [{"what": "disks in project demo", "why": "403"}]
    answering(
        monkeypatch,
        sweep={"removed": [f"instances/orch-{ID}-a"], "left": [], "unknown": unseen},
        status=MissingError(""),
    )
    receipt = take_down(REGISTRY, written())
    assert receipt.destroyed == ("a",)
    assert receipt.unknown == ("disks in project demo (403)",)
    assert "not known what is left: disks in project demo (403)" in receipt.sentence()
    assert state() == "up"


def test_a_provider_that_does_not_answer_leaves_everything_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, sweep=ProvisionError("gcp: sweep had no answer"), status=ProvisionError("no answer"))
    receipt = take_down(REGISTRY, written(state="intended"))
    assert (receipt.created, receipt.destroyed, receipt.left) == (("a", "b"), (), ())
    assert "sweep had no answer" in receipt.open[0]
    assert state() == "intended"


def test_a_failed_destroy_is_never_down_though_the_sweep_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_terraform: Terraform) -> None:
        raise ProvisionError("terraform init failed: 503")

    answering(monkeypatch)
    monkeypatch.setattr(Terraform, "init", fail)
    intent = written()
    (REGISTRY.folder_of(ID) / "variables.tfvars.json").write_text("{}")
    (REGISTRY.folder_of(ID) / "keys").mkdir()
    (REGISTRY.folder_of(ID) / "keys" / "user").write_text("needed for the next try")
    receipt = take_down(REGISTRY, intent)
    assert "terraform could not destroy: terraform init failed: 503" in receipt.unknown[0]
    assert state() == "up"
    assert (REGISTRY.folder_of(ID) / "keys" / "user").exists()


def test_after_a_sweep_that_leaves_nothing_the_second_destroy_is_what_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted `apply`: the provider forgot an instance, so that the first destroy could not delete its subnet."""
    destroys: list[str] = []

    def destroy(_terraform: Terraform) -> None:
        destroys.append("destroy")
        if len(destroys) == 1:
            raise ProvisionError("terraform destroy failed: the subnetwork is in use")

    program = answering(monkeypatch, sweep={"removed": [f"instances/orch-{ID}-a"], "left": [], "unknown": []})
    monkeypatch.setattr(Terraform, "init", lambda _terraform: None)
    monkeypatch.setattr(Terraform, "destroy", destroy)
    intent = written(state="intended")
    (REGISTRY.folder_of(ID) / "variables.tfvars.json").write_text("{}")
    receipt = take_down(REGISTRY, intent)
    assert (receipt.created, receipt.destroyed, receipt.open, state()) == (("a",), ("a",), (), "down")
    assert destroys == ["destroy", "destroy"]

    program.answers["status"] = {**program.answers["status"], "hosts": {}}
    again = REGISTRY.read(ID)
    receipt = take_down(REGISTRY, again)
    assert (receipt.created, receipt.destroyed) == (("a",), ("a",))


def test_a_program_that_ends_without_a_word_still_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = Completed(returncode=-9, stdout="", stderr="")
    monkeypatch.setattr(infra, "capture", lambda *_args, **_options: ended)
    with pytest.raises(ProvisionError, match="list failed: exit status -9 without a word"):
        Infra("gcp").standing()


def test_status_says_unknown_and_not_gone_in_another_project(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, target=project("other"))
    written()
    (entry,) = overview(REGISTRY)
    assert entry["hosts"]["a"]["alive"] is None
    assert "not known: its hosts were made in project demo" in entry["hosts"]["a"]["why"]
