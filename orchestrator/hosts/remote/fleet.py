"""The hosts of a deployment as the run loop knows them, and what must be true of them before anything is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan.plan import Pin, Placement, Plan
from orchestrator.experiment.plan.topology import Topology
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.base import Pair, at_once, ping
from orchestrator.hosts.pinning import Pinning, choose, cpus_in, pinning_facts
from orchestrator.hosts.processes import cpu_s
from orchestrator.hosts.remote.host import RemoteHost
from services.python.contract.ping_lines import Ping

_PINGS = 25
_ALLOWED = "command -v taskset >/dev/null && sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status"
_NO_PING = "the two hosts cannot reach each other; `orch status` shows what is up, `orch teardown` takes it down"


@dataclass(kw_only=True)
class RemoteFleet:
    """Hosts by name, and the ends of every placement. `about` goes into the manifest, `databases` (DSNs by host) nowhere."""

    members: Mapping[str, RemoteHost]
    topology: Topology
    pin: Pin  # of every placement that has none of its own
    look: Callable[[], Mapping[str, Any]]  # the provider's own `status` of the deployment
    about: dict[str, Any] = field(default_factory=dict)
    pins: Mapping[str, Pin] = field(default_factory=dict)  # by placement, where it has its own
    databases: Mapping[str, str] = field(default_factory=dict, repr=False)
    _cpus: dict[str, set[int]] = field(default_factory=dict)  # by host

    def pair(self, placement_id: str) -> Pair:
        ends = self.topology.ends[placement_id]
        responder = self.members[ends.responder]
        pinning = self._pinning(placement_id)
        return Pair(
            requesters=tuple(self.members[name] for name in ends.requesters),
            responder=responder,
            requester_cpus=pinning.requester,
            responder_cpus=pinning.responder,
            more_cpus=pinning.more,
            database=self.databases.get(ends.store or "", ""),
        )

    def hosts(self) -> Sequence[RemoteHost]:
        return tuple(self.members.values())

    def describe(self) -> dict[str, Any]:
        """See `Fleet.describe`; with the CPUs of both ends, numbers that all hosts of a placement have."""
        pinnings = {name: self._pinning(name) for name in self.topology.ends}
        is_shared = any(ends.responder in ends.requesters for ends in self.topology.ends.values())
        return {**self.about, **pinning_facts(pinnings), **({} if is_shared else {"warnings": []})}

    def beside_cpu_s(self) -> float | None:
        if not PROVIDERS[self.about["provider"]].hosts_are_this_machine:
            return None
        emulator_pid = self.about["link"].get("emulator_pid")
        return time.process_time() + (cpu_s(emulator_pid) if emulator_pid else 0.0)

    def fault(self) -> str | None:
        seen = self.look()
        gone = [
            f"host {name}: {seen['hosts'].get(name, {'why': 'it is gone'})['why']}"
            for name in self.members
            if not seen["hosts"].get(name, {"alive": False})["alive"]
        ]
        if not seen["link"]["alive"]:
            gone.append(f"the link between the hosts: {seen['link']['why']}")
        return "; ".join(gone) or None

    def _pinning(self, placement_id: str) -> Pinning:
        """Out of the CPUs that every end of the placement has."""
        ends = self.topology.ends[placement_id]
        each = [self._cpus_of(self.members[name]) for name in dict.fromkeys((ends.responder, *ends.requesters))]
        cpus = sorted(set.intersection(*each))
        return choose(self.pins.get(placement_id, self.pin), cpus, can_pin=bool(cpus))

    def _cpus_of(self, host: RemoteHost) -> set[int]:
        """Those that a process of the host can be pinned to; none where it cannot."""
        if host.name not in self._cpus:
            done = host.run(["sh", "-c", _ALLOWED], timeout_s=30)
            self._cpus[host.name] = cpus_in(done.stdout) if done.returncode == 0 else set()
        return self._cpus[host.name]


def measure_distance(fleet: RemoteFleet, plan: Plan) -> list[dict[str, Any]]:
    """The RTT between the ends of every placement, against the wanted one; ProvisionError when the link is not as wanted.

    A link may be off by the larger of 5 % and 0.5 ms. The fastest of the pings is what the link can do; jitter makes
    some faster than wanted, so there the mean counts, which may be off by half the jitter more. Where no RTT was wanted
    it is only recorded, None where a host cannot ping.
    """
    apart = [placement for placement in plan.placements if placement.kind != "local"]
    return at_once(_measured, apart, [fleet.pair(placement.id) for placement in apart])


def _measured(placement: Placement, pair: Pair) -> dict[str, Any]:
    asks, answers = pair.requesters[0], pair.responder
    record = str(asks.workspace / f"distance-{placement.id}.timings")
    wanted, achieved, received = placement.link.rtt_ms, None, 0
    try:
        request = Ping(address=answers.address, count=_PINGS, interval_s=0.02, timeout_s=5.0, record=record)
        done = ping(asks, request)
        achieved, received = done.avg_ms if placement.link.jitter_ms else done.min_ms, done.received
        trouble = f"no reply to {done.sent} requests"
    except (TimeoutError, ValueError) as error:
        trouble = str(error)
    if wanted is not None and (not received or achieved is None):
        raise ProvisionError(f"{asks.name} cannot ping {answers.name}: {trouble}", hint=_NO_PING)
    if wanted is not None and achieved is not None and abs(achieved - wanted) > placement.link.slack_ms:
        raise ProvisionError(
            f"the link of {placement.name} is off: ping {achieved:.2f} ms between {asks.name} and {answers.name}, "
            f"wanted {wanted:g} ms",
            hint="the machine may be too busy to emulate the distance; quiet it, or `orch teardown` and run again",
        )
    return {"placement": placement.id, "wanted_rtt_ms": wanted, "ping_ms": achieved, "received": received}
