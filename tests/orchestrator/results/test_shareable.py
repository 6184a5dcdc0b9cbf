from __future__ import annotations

from dataclasses import replace

from orchestrator.results import shareable
from orchestrator.results.manifest import TurnRecord

CALL = {"kind": "http", "path": "/ann", "headers": {"authorization": "Bearer ${ANN}"}, "expect": {"status": [200]}}
SERVICE = {"given": "anns-laptop", "host": "198.18.0.9", "port": 8001, "authority": "/home/ann.pem", "start": None} | {
    "call": CALL
}


def a_plan(*services: dict | None, overrides: tuple[str, ...] = ()) -> dict:
    stacks = [{"id": f"s{n}", "responder": f"external-{n}", "external": service} for n, service in enumerate(services)]
    return {"stacks": stacks, "experiment_path": "/home/ada/x.yaml", "overrides": list(overrides), "seed": 7}


def test_overrides_of_stacks_that_may_hold_an_address_have_no_value():
    overrides = ("repeats=1", "stacks.0.service=ann", "stacks=[{service: ann}]")
    document = shareable.plan(a_plan(None, SERVICE, overrides=overrides))
    assert document["overrides"] == ["repeats=1", "stacks.0.service=...", "stacks=..."]
    assert "ann" not in str(document["stacks"])
    assert document["stacks"][1]["external"]["call"] == {"kind": "http", "expect": True}
    assert shareable.plan(a_plan(None, overrides=overrides))["overrides"] == list(overrides)


def test_a_fleet_keeps_roles_zones_and_pinning():
    document = {
        "provider": "gcp",
        "deployment": "orch-1234",
        "requester_cpus": "1",
        "hosts": {"requester-1": {"role": "requester", "zone": "a", "machine": "n2", "address": "10.1.2.3"}},
        "link": {"kind": "netem", "paths": ["10.1.2.3"]},
    }
    assert shareable.fleet(document) == {
        "provider": "gcp",
        "requester_cpus": "1",
        "hosts": {"requester-1": {"role": "requester", "zone": "a", "machine": "n2"}},
        "link": {"kind": "netem"},
    }


def test_a_turn_without_figures_keeps_that_it_has_none():
    record = TurnRecord(
        index=0, block=0, cell="c", attempt=0, tool="wrk", came_first=True, started_wall_ns=1, failure="/home/ada/wrk"
    )
    assert shareable.turn(record).failure == shareable.NO_FIGURES
    assert shareable.turn(replace(record, failure="")).failure == ""
