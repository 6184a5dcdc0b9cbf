"""What must be true of remote hosts before anything is measured on them, and how a loss is told."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan.plan import Link, Placement
from orchestrator.experiment.plan.topology import topology
from orchestrator.hosts.base import HostLost
from orchestrator.hosts.remote import fleet as module
from orchestrator.hosts.remote.fleet import RemoteFleet, measure_distance
from orchestrator.hosts.remote.host import RemoteHost, _losing
from orchestrator.hosts.remote.ssh import Access
from services.python.contract.ping_lines import PingDone
from tests.support.plans import plan

PLAN = plan(
    provider="lab",
    machine="f1-micro",
    placements=(
        Placement(
            id="local",
            name="far",
            kind="cross-region",
            from_zone="us-central1-a",
            to_zone="us-west1-a",
            link=Link(rtt_ms=35.0),
        ),
    ),
)
ALL_THERE = {
    "hosts": {name: {"alive": True, "why": None} for name in ("requester-1", "responder-1")},
    "link": {"alive": True, "why": None},
}


def host(name: str) -> RemoteHost:
    access = Access(
        name=name,
        alias=name,
        host_name=name,
        user="root",
        port=22,
        proxy_command=None,
        identity=Path("user"),
        known_hosts=Path("known_hosts"),
    )
    return RemoteHost(name=name, address="198.18.0.1", access=access, workspace=PurePosixPath("/w"))


def fleet(status: dict[str, Any] = ALL_THERE) -> RemoteFleet:
    members = {name: host(name) for name in ("requester-1", "responder-1")}
    return RemoteFleet(members=members, topology=topology(PLAN), pin="off", look=lambda: status)


@pytest.fixture
def pinged(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What pings answer; the fleet needs no SSH for its pinning."""
    answer = {"sent": 25, "received": 25, "min_ms": 35.1, "avg_ms": 35.4}
    monkeypatch.setattr(module, "ping", lambda host, request: PingDone(method="icmp-raw", **answer))
    monkeypatch.setattr(RemoteFleet, "_cpus_of", lambda self, host: set())
    return answer


@pytest.mark.parametrize(("achieved_ms", "is_fine"), [(33.3, True), (33.2, False), (36.7, True), (36.8, False)])
def test_a_link_may_be_off_by_a_twentieth(pinged: dict[str, Any], achieved_ms: float, is_fine: bool) -> None:
    pinged["min_ms"] = achieved_ms
    if is_fine:
        measure_distance(fleet(), PLAN)
    else:
        with pytest.raises(ProvisionError, match="the link of far is off"):
            measure_distance(fleet(), PLAN)


def test_no_echo_at_all_is_told_with_both_names(pinged: dict[str, Any]) -> None:
    pinged["received"] = 0
    with pytest.raises(ProvisionError, match="requester-1 cannot ping responder-1: no reply to 25 requests"):
        measure_distance(fleet(), PLAN)


def test_what_is_gone_is_told_by_name() -> None:
    assert fleet().fault() is None
    status = {"hosts": {"requester-1": {"alive": False, "why": "the machine was rebooted"}}, "link": ALL_THERE["link"]}
    assert fleet(status).fault() == "host requester-1: the machine was rebooted; host responder-1: it is gone"
    dead = {**ALL_THERE, "link": {"alive": False, "why": "its emulator has ended"}}
    assert fleet(dead).fault() == "the link between the hosts: its emulator has ended"


@pytest.mark.parametrize(("kind", "warned"), [("local", True), ("cross-region", False)])
def test_one_cpu_is_warned_of_only_where_both_ends_share_a_host(
    monkeypatch: pytest.MonkeyPatch, kind: Any, warned: bool
) -> None:
    monkeypatch.setattr(RemoteFleet, "_cpus_of", lambda self, host: {0})
    wanted = replace(PLAN, placements=(replace(PLAN.placements[0], kind=kind),))
    told = replace(fleet(), topology=topology(wanted), pin="apart").describe()
    assert bool(told["warnings"]) is warned
    assert told["requester_cpus"] == "0"


def test_a_placement_with_a_pin_of_its_own_has_its_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RemoteFleet, "_cpus_of", lambda self, host: {0, 1})
    near, together = (
        replace(PLAN.placements[0], id=name, kind="local", from_zone="z", to_zone="z") for name in ("near", "one-cpu")
    )
    wanted = topology(replace(PLAN, placements=(near, together)))
    both = host("responder-1")
    of = replace(fleet(), members={"responder-1": both}, topology=wanted, pin="apart", pins={"one-cpu": "together"})
    assert (of.pair("near").requester_cpus, of.pair("near").responder_cpus) == ("1", "0")
    assert (of.pair("one-cpu").requester_cpus, of.pair("one-cpu").responder_cpus) == ("0", "0")
    assert of.describe()["cpus_by_placement"]["one-cpu"] == {"requester": "0", "responder": "0"}


def test_ends_are_pinned_to_cpus_that_both_hosts_have(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = {"requester-1": {0, 1, 2}, "responder-1": {1, 2, 3, 4}}
    monkeypatch.setattr(RemoteFleet, "_cpus_of", lambda self, host: allowed[host.name])
    pair = replace(fleet(), pin="apart").pair("local")
    assert (pair.requester_cpus, pair.responder_cpus) == ("2", "1")


@pytest.mark.parametrize(
    ("provider", "emulator", "expected"), [("lab", 7, 6.0), ("lab", None, 2.0), ("gcp", None, None)]
)
def test_what_orch_and_the_links_program_used_is_counted_where_the_hosts_are_this_machine(
    monkeypatch: pytest.MonkeyPatch, provider: str, emulator: int | None, expected: float | None
) -> None:
    monkeypatch.setattr(module.time, "process_time", lambda: 2.0)
    monkeypatch.setattr(module, "cpu_s", {7: 4.0}.__getitem__)
    hosts = fleet()
    hosts.about = {"provider": provider, "link": {"kind": "any", "emulator_pid": emulator}}
    assert hosts.beside_cpu_s() == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.EHOSTUNREACH, "no route"), HostLost),
        (ConnectionResetError(), HostLost),
        (OSError(errno.ENOSPC, "disk full"), OSError),
    ],
)
def test_a_host_without_a_route_to_it_is_lost_and_a_full_disk_is_not(error: OSError, expected: type[Exception]) -> None:
    with pytest.raises(expected), _losing("a"):
        raise error
