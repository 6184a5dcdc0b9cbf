"""The provider's program against a fake Compute API: what is there, how it is, and how it is swept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fake_compute import FakeCompute

from tests.infra.cloud_faults import build, build_network, build_strangers

Ask = Callable[..., tuple[int, Any, str]]


TWO = {"requester": "us-west1-a", "responder": "us-central1-a"}


def test_what_is_missing_is_named(ask: Ask) -> None:
    code, answer, _ = ask("check", GOOGLE_PROJECT=None, GOOGLE_OAUTH_ACCESS_TOKEN=None, PATH="/nowhere")
    assert code == 3
    assert [lack["what"] for lack in answer["missing"]] == [
        "no project is named",
        "there are no credentials that give an access token",
    ]


def test_without_credentials_nothing_is_asked(ask: Ask, compute: FakeCompute) -> None:
    code, answer, words = ask("list", GOOGLE_OAUTH_ACCESS_TOKEN=None, PATH="/nowhere")
    assert (code, answer) == (3, None)
    assert words.startswith("error: there are no credentials")
    assert "hint: gcloud auth" in words
    assert compute.requests == []


def test_healthy_hosts_and_their_expiry(ask: Ask, compute: FakeCompute) -> None:
    build(compute, "a1", TWO)
    build(compute, "b2", TWO)
    code, answer, _ = ask("status", "--run-id", "a1")
    assert code == 0
    started = 1767254410  # 2026-01-01T00:00:10-08:00, what the fake says of every instance
    assert answer["hosts"] == {
        name: {"alive": True, "why": None, "expires_at": started + 3600} for name in ("requester", "responder")
    }
    assert answer["link"] == {"kind": "network", "alive": True, "why": None}
    assert answer["replace"] == []
    assert compute.tokens == {"Bearer secret"}


def test_a_stopped_host_is_to_be_replaced(ask: Ask, compute: FakeCompute) -> None:
    build(compute, "a1", TWO)
    compute.things["zones/us-west1-a/instances/orch-a1-requester"]["status"] = "TERMINATED"
    _, answer, _ = ask("status", "--run-id", "a1")
    stopped = answer["hosts"]["requester"]
    assert stopped["why"] == "Compute Engine says TERMINATED; while it is stopped, nothing deletes it by itself"
    assert stopped["expires_at"] is None
    assert answer["replace"] == ['google_compute_instance.host["requester"]']


def test_everything_of_ours_is_listed_and_nothing_else(ask: Ask, compute: FakeCompute) -> None:
    build(compute, "a1", TWO)
    build_strangers(compute, "a1")
    build_network(compute, "left")
    _, answer, _ = ask("list")
    assert answer["runs"] == {
        "a1": {"hosts": ["responder", "requester"], "expires_at": 1767258010},
        "left": {"hosts": [], "expires_at": None},
    }


def test_sweep_removes_one_run_in_the_order_that_works(ask: Ask, compute: FakeCompute) -> None:
    build(compute, "a1", TWO)
    build(compute, "a1b", {"other": "us-west1-a"})
    code, answer, words = ask("sweep", "--run-id", "a1")
    assert code == 0, words
    assert answer["left"] == []
    assert len(answer["removed"]) == 2 + 2 + 2 + 1
    assert answer["removed"][-1] == "networks/orch-a1"
    assert not [path for path in compute.things if "orch-a1/" in f"{path}/" or "orch-a1-" in path]
    assert [path for path in compute.things if "instances/orch-a1b-other" in path]
    assert ask("sweep", "--run-id", "a1")[1] == {"removed": [], "left": [], "unknown": []}


@pytest.mark.parametrize("verb", [("status", "--run-id", "a1"), ("list",)])
@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_list_that_fails_is_not_an_empty_list(ask: Ask, compute: FakeCompute, verb: Any, status: int) -> None:
    build(compute, "a1", TWO)
    compute.refused["GET instances"] = (status, "no such thing here")
    code, answer, words = ask(*verb)
    assert (code, answer) == (4, None)
    assert "no such thing here" in words


def test_the_target_is_what_the_environment_names(ask: Ask, compute: FakeCompute) -> None:
    assert ask("target")[1]["target"] == {"project": "demo", "endpoint": compute.url}
    other = ask("target", TF_VAR_project="other")[1]
    assert other["target"]["project"] == "other"
    assert other["set_by"]["project"] == "TF_VAR_project"
    assert ask("target", GOOGLE_PROJECT=None, PATH="/nowhere")[1]["target"]["project"] is None
    assert compute.requests == []


@pytest.mark.parametrize(("status", "hint"), [(401, "sign in again"), (403, "roles/compute.admin in demo")])
def test_a_refusal_says_what_to_do(ask: Ask, compute: FakeCompute, status: int, hint: str) -> None:
    compute.refused["GET instances"] = (status, "no")
    code, _, words = ask("list")
    assert code == 4
    assert "error: GET aggregated/instances: no" in words
    assert hint in words
