"""Faults of the Compute API, on top of the fake one; and what infra/gcp makes, put into it without Terraform."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.infra.fake_compute import NO_ANSWER, FakeCompute

Answer = tuple[int, dict[str, Any]]
Effect = Callable[[Callable[[], Answer]], Answer]


@dataclass
class Fault:
    """What happens to requests whose `METHOD path` the pattern is found in; `times` is how often (-1: always)."""

    pattern: str
    effect: Effect
    times: int = -1


@dataclass
class FaultyCompute(FakeCompute):
    """A fake in which projects are apart, and faults happen. Only the projects in `visible` are there for us."""

    visible: set[str] = field(default_factory=lambda: {"demo"})
    empty: set[str] = field(default_factory=set)  # visible too, with nothing in them
    faults: list[Fault] = field(default_factory=list)

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: dict[str, Any]) -> Answer:
        project = path.split("/")[1]
        if project in self.empty:
            self.requests.append((method, path))
            return 200, {}
        if project not in self.visible:
            self.requests.append((method, path))
            return refusal(404, f"The resource 'projects/{project}' was not found")
        request = f"{method} {path}" + (" pageToken" if query.get("pageToken") else "")
        for fault in self.faults:
            if fault.times and re.search(fault.pattern, request):
                fault.times -= 1
                return fault.effect(lambda: super(FaultyCompute, self).answer(method, path, query, body))
        return super().answer(method, path, query, body)


def refusal(status: int, message: str) -> Answer:
    """What the API answers when it refuses."""
    return status, {"error": {"code": status, "message": message, "errors": [{"message": message}]}}


def refused(status: int, message: str = "no") -> Effect:
    """The request is refused, and nothing happens."""
    return lambda _proceed: refusal(status, message)


def lost(_proceed: Callable[[], Answer]) -> Answer:
    """The connection is closed before the request has done anything."""
    return NO_ANSWER, {}


def done_but_lost(proceed: Callable[[], Answer]) -> Answer:
    """What was asked for happens, and the connection is closed without an answer."""
    proceed()
    return NO_ANSWER, {}


def failed_operation(message: str) -> Effect:
    """The request is accepted, and its operation ends with an error."""
    return lambda _proceed: (200, {"name": "o", "status": "DONE", "error": {"errors": [{"message": message}]}})


def never_done(_proceed: Callable[[], Answer]) -> Answer:
    """The operation runs and runs."""
    return 200, {"name": "operation-slow", "status": "RUNNING"}


def unreached(scope: str) -> Effect:
    """A zone does not answer: what is in it is missing from the list, with a warning."""

    def effect(proceed: Callable[[], Answer]) -> Answer:
        status, document = proceed()
        warning = {"code": "UNREACHABLE", "message": f"{scope} is not reachable"}
        return status, {**document, "items": {**document.get("items", {}), scope: {"warning": warning}}}

    return effect


def post(compute: FakeCompute, place: str, kind: str, body: dict[str, Any]) -> None:
    """Make one thing in project demo."""
    status, answer = FakeCompute.answer(compute, "POST", f"projects/demo/{place}/{kind}", {}, body)
    assert status == 200, answer


def build_network(compute: FakeCompute, run_id: str) -> str:
    """A run's network, marked as infra/gcp marks it; its reference."""
    post(compute, "global", "networks", {"name": f"orch-{run_id}", "description": f"app=orch orch-run={run_id}"})
    return f"projects/demo/global/networks/orch-{run_id}"


def build(compute: FakeCompute, run_id: str, hosts: dict[str, str]) -> None:
    """What infra/gcp makes, with names, labels, markers and links; `hosts` by name, with their zone."""
    network, marker = build_network(compute, run_id), f"app=orch orch-run={run_id}"
    for region in sorted({zone.rpartition("-")[0] for zone in hosts.values()}):
        body = {"name": f"orch-{run_id}-{region}", "network": network, "description": marker}
        post(compute, f"regions/{region}", "subnetworks", body)
    for rule in ("ssh", "internal"):
        body = {"name": f"orch-{run_id}-{rule}", "network": network, "description": f"{marker}: {rule}"}
        post(compute, "global", "firewalls", body)
    for name, zone in hosts.items():
        region = zone.rpartition("-")[0]
        labels = {"app": "orch", "orch-run": run_id}
        body = {
            "name": f"orch-{run_id}-{name}",
            "labels": labels | {"role": name},
            "description": marker,
            "networkInterfaces": [{"subnetwork": f"projects/demo/regions/{region}/subnetworks/orch-{run_id}-{region}"}],
            "disks": [{"boot": True, "autoDelete": True, "initializeParams": {"labels": labels}}],
            "scheduling": {"maxRunDuration": {"seconds": "3600"}, "instanceTerminationAction": "DELETE"},
        }
        post(compute, f"zones/{zone}", "instances", body)


def build_strangers(compute: FakeCompute, run_id: str) -> set[str]:
    """What others may have in the project, named as we name things, in part marked as we do; the paths."""
    before = set(compute.things)
    labels = {"app": "orch", "orch-run": run_id}
    post(compute, "zones/us-west1-a", "instances", {"name": "orch-prod-db", "labels": {"team": "billing"}})
    post(compute, "zones/us-west1-a", "instances", {"name": f"orch-{run_id}-cache"})
    post(compute, "zones/us-west1-a", "instances", {"name": f"orch-{run_id}-web", "labels": {"app": "orch"}})
    post(compute, "zones/us-west1-a", "instances", {"name": f"orch-{run_id}-api", "labels": {"orch-run": run_id}})
    post(compute, "zones/us-west1-a", "instances", {"name": "orch-copied", "labels": labels})
    post(compute, "zones/us-west1-a", "disks", {"name": f"orch-{run_id}-archive", "labels": {"app": "db"}})
    post(compute, "global", "networks", {"name": "orch-vpc", "description": "production"})
    post(compute, "global", "networks", {"name": "orch-shared", "description": f"app=orch orch-run={run_id}"})
    vpc = "projects/demo/global/networks/orch-vpc"
    rule = {"name": f"orch-{run_id}-allow", "network": vpc, "description": f"app=orch orch-run={run_id}"}
    post(compute, "global", "firewalls", rule)
    post(compute, "regions/us-west1", "subnetworks", {"name": "orch-prod-west", "network": vpc, "description": "ours"})
    return set(compute.things) - before


def ours(compute: FakeCompute, run_id: str, strangers: set[str]) -> list[str]:
    """The truth: the paths of what is left of a run."""
    return [p for p in compute.things if f"/orch-{run_id}" in p and p not in strangers]
