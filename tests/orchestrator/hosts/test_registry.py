"""Deployments are written down before anything is made, and found again by id or run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import UsageError
from orchestrator.hosts import registry
from orchestrator.hosts.registry import Intent, deployment_id


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
    registry.write(intent("run-a"))
    assert registry.read(deployment_id("run-a")) == intent("run-a")
    assert registry.read("never") is None


def test_only_what_may_be_up_is_standing_oldest_first() -> None:
    registry.write(intent("late", 20.0))
    registry.write(intent("early", 10.0))
    registry.write(replace(intent("gone", 5.0), state="down"))
    assert [i.run_id for i in registry.standing()] == ["early", "late"]


def test_a_deployment_is_found_by_run_by_id_or_by_being_the_only_one() -> None:
    with pytest.raises(UsageError, match="no deployment is up"):
        registry.find(None)
    registry.write(intent("one"))
    assert registry.find(None).run_id == registry.find("one").run_id == registry.find(deployment_id("one")).run_id
    registry.write(intent("two"))
    with pytest.raises(UsageError, match="several deployments are up"):
        registry.find(None)
    with pytest.raises(UsageError, match="no deployment of three"):
        registry.find("three")


def test_an_id_fits_the_interface_of_infra() -> None:
    for run in ("a", "20261121-025100-cross_region-a1b2"):
        assert deployment_id(run).isalnum()
        assert deployment_id(run).islower()
        assert len(deployment_id(run)) <= 20
