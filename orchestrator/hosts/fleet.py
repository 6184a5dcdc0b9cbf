"""The hosts of a deployment as the run loop knows them, and what must be true of them before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan import Pin, Placement, Plan
from orchestrator.hosts.base import Pair
from orchestrator.hosts.ping import ping
from orchestrator.hosts.pinning import Pinning, choose
from orchestrator.hosts.remote import RemoteHost
from orchestrator.hosts.topology import Topology

_PINGS = 25


@dataclass(kw_only=True)
class RemoteFleet:
    """Hosts by name, and the ends of every placement. `about` goes into the manifest."""

    members: Mapping[str, RemoteHost]
    topology: Topology
    pin: Pin
    about: dict[str, Any]
    _pinning: dict[str, Pinning] = field(default_factory=dict)

    def pair(self, placement_id: str) -> Pair:
        """See `Fleet.pair`."""
        ends = self.topology.ends[placement_id]
        responder = self.members[ends.responder]
        pinning = self._pinning_on(responder)
        return Pair(
            requesters=tuple(self.members[name] for name in ends.requesters),
            responder=responder,
            requester_cpus=pinning.requester,
            responder_cpus=pinning.responder,
        )

    def hosts(self) -> Sequence[RemoteHost]:
        """See `Fleet.hosts`."""
        return tuple(self.members.values())

    def describe(self) -> dict[str, Any]:
        """See `Fleet.describe`."""
        return self.about

    def _pinning_on(self, host: RemoteHost) -> Pinning:
        """All hosts are of one machine type, so one of them tells the CPUs of all."""
        if host.name not in self._pinning:
            done = host.run(["nproc"], timeout_s=30)
            cpus = list(range(int(done.stdout))) if done.returncode == 0 else None
            self._pinning[host.name] = choose(self.pin, cpus, can_pin=True)
        return self._pinning[host.name]


def measure_distance(fleet: RemoteFleet, plan: Plan) -> list[dict[str, Any]]:
    """The RTT between the ends of every placement, against the wanted one; ProvisionError when the link is not as wanted.

    A link may be off by the larger of 5 % and 0.5 ms; where no RTT was wanted it is only recorded.
    """
    return [_measured(fleet, placement) for placement in plan.placements if placement.kind != "local"]


def _measured(fleet: RemoteFleet, placement: Placement) -> dict[str, Any]:
    pair = fleet.pair(placement.id)
    asks, answers = pair.requesters[0], pair.responder
    record = str(asks.workspace / f"distance-{placement.id}.timings")
    try:
        done = ping(
            asks, {"address": answers.address, "count": _PINGS, "interval_s": 0.02, "timeout_s": 5.0, "record": record}
        )
    except (TimeoutError, ValueError) as error:
        raise ProvisionError(f"{asks.name} cannot ping {answers.name}: {error}") from error
    if not done["received"]:
        raise ProvisionError(f"{asks.name} cannot ping {answers.name}: no reply to {done['sent']} requests")
    wanted, achieved = placement.link.rtt_ms, float(done["min_ms"])
    if wanted is not None and abs(achieved - wanted) > max(0.05 * wanted, 0.5):
        raise ProvisionError(
            f"the link of {placement.name} is off: ping {achieved:.2f} ms, wanted {wanted:g} ms",
            hint="the machine may be too busy to emulate the distance; quiet it, or `orch teardown` and run again",
        )
    return {"placement": placement.id, "wanted_rtt_ms": wanted, "ping_ms": achieved, "received": done["received"]}


def prove_placement(facts: Mapping[str, Mapping[str, Any]], wanted: Mapping[str, Any]) -> None:
    """Compare zone and machine type, as each instance's own metadata tells them, with what was asked for.

    Raises ProvisionError where a host says it is elsewhere; a host without a metadata service says nothing.
    """
    for name, fact in facts.items():
        cloud = fact.get("cloud") or {}
        for what in ("zone", "machine"):
            said, asked = (cloud.get(what) or "").rsplit("/", 1)[-1], wanted[name][what]  # projects/1/zones/us-west1-a
            if said and said != asked:
                raise ProvisionError(f"{name} says of itself that its {what} is {said}; {asked} was asked for")
