"""Deployments are written down before anything is made, and found again by id or run."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from orchestrator.errors import UsageError
from orchestrator.hosts.provision import deployments
from orchestrator.hosts.provision.deployments import Intent, Registry, deployment_id
from orchestrator.workspace import Workspace

REGISTRY = Registry(Workspace().deployments)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def intent(run_id: str, created_at: float = 1.0) -> Intent:
    return Intent(
        id=deployment_id(run_id),
        run_id=run_id,
        provider="lab",
        hosts=("responder-1",),
        created_at=created_at,
        expires_at=created_at + 60,
        cost_usd_per_h=None,
        state="intended",
    )


def test_what_was_written_is_read_again() -> None:
    REGISTRY.write(intent("run-a"))
    assert REGISTRY.read(deployment_id("run-a")) == intent("run-a")
    assert REGISTRY.read("never") is None


def test_a_deployment_is_found_by_run_by_id_or_by_being_the_only_one() -> None:
    with pytest.raises(UsageError, match="no deployment is up"):
        REGISTRY.find(None)
    REGISTRY.write(intent("one"))
    assert REGISTRY.find(None).run_id == REGISTRY.find("one").run_id == REGISTRY.find(deployment_id("one")).run_id
    REGISTRY.write(intent("two"))
    with pytest.raises(UsageError, match="several deployments are up"):
        REGISTRY.find(None)
    with pytest.raises(UsageError, match="no deployment of three"):
        REGISTRY.find("three")


def written(document: dict[str, object], identity: str | None = None) -> Path:
    folder = REGISTRY.folder_of(identity or deployment_id("run"))
    folder.mkdir(parents=True, mode=0o700)
    path = folder / deployments.FILE
    path.write_text(json.dumps(document))
    return path


def plain(run_id: str = "run") -> dict[str, object]:
    return dict(json.loads(json.dumps(asdict(intent(run_id)))))


@pytest.mark.parametrize(
    ("field", "value"), [("provider", "../infra/lab"), ("id", deployment_id("other")), ("more", 1)]
)
def test_a_damaged_document_is_refused(field: str, value: object) -> None:
    written({**plain(), field: value})
    with pytest.raises(UsageError, match=f"damaged: .*{field}"):
        REGISTRY.read(deployment_id("run"))
