"""How long a run will take, how much disk it needs, and how many hosts.

A request costs round trips and CPU. Round trips are counted: one for the request, those of opening a connection where
each request opens one, and those that TCP's slow start (RFC 5681, with the initial window of RFC 6928) adds to a large
body on a fresh connection. CPU is a figure per request and per byte; a host that may use a share of a core is held to
that share by its busiest end, and waits for the network meanwhile, so the larger of the two decides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orchestrator.experiment.machines import MACHINES, cost_usd
from orchestrator.experiment.plan import Cell, Operation, Placement, Plan
from orchestrator.experiment.regions import HOME_ZONE, profile, region_of
from orchestrator.experiment.topology import topology

_INITIAL_WINDOW_BYTES = 10 * 1448  # RFC 6928, with the usual segment of an Ethernet path
_SEGMENT_BYTES = 1400  # bodies up to it share one tcp floor
_ROW_BYTES = 80  # protos/timings.md
_PARQUET_ROW_BYTES = 12  # zstd, delta encoding; the constant columns cost next to nothing
_PARQUET_FILE_BYTES = 12_000
_LOOPBACK_RTT_S = 0.00005
_UNKNOWN_RTT_S = {"same-zone": 0.0015, "cross-region": 0.1}


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What things cost, in seconds of CPU of one whole core unless said otherwise.

    `request_s` is one small request, both ends together, by stack id: what earlier runs measured goes in here. The
    other figures were measured with this project's own programs on a virtual machine of 2 cores.
    """

    request_s: Mapping[str, float] = field(default_factory=dict)
    default_request_s: float = 0.0006
    open_s: float = 0.0002  # a connection, both ends
    byte_s: float = 1.5e-9  # a byte of a body, both ends
    start_s: float = 0.3  # starting a responder and a requester
    between_s: float = 0.3  # elapsed: readiness, record, conversion
    remote_s: float = 0.3  # elapsed: starting and fetching over SSH
    ping_s: float = 1.0  # elapsed: 50 pings, beside their round trips
    floor_requests: int = 250
    floor_at_most_s: float = 2.5
    lab_s: float = 8.0  # elapsed: making the hosts of a lab
    gcp_s: float = 120.0  # elapsed: making instances until they answer
    deploy_s: float = 12.0  # installing on a host, all hosts at once
    report_s: float = 5.0  # elapsed: checks and report


def costs_from(summaries: Sequence[Mapping[str, Any]]) -> Costs:
    """The costs, with what a small request of each stack took on this machine in earlier runs.

    `summaries` are those runs' `summary.json`, newest first; the newest figure of a stack counts. Only a closed loop of
    one request in flight over a kept connection on the machine itself shows what a request costs.
    """
    found: dict[str, float] = {}
    for summary in summaries:
        if (summary.get("plan") or {}).get("provider") != "local":
            continue
        rates = {cell["id"] for cell in summary["plan"].get("cells", ()) if cell["load"]["rate_per_s"] is not None}
        for cell in summary.get("cells", ()):
            per_s, sizes = cell.get("throughput_per_s"), cell.get("body_bytes")
            is_small = sizes is not None and max(sizes) <= _SEGMENT_BYTES
            is_plain = cell.get("connection") == "reuse" and cell.get("concurrency") == 1
            if per_s and is_small and is_plain and cell["id"] not in rates:
                found.setdefault(cell["stack"], max(0.0, 1 / per_s - _LOOPBACK_RTT_S))
    return Costs(request_s=found)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a plan will take. Seconds, bytes, and zones with one entry per host (none for provider `local`)."""

    duration_s: float
    hosts_s: float  # making the hosts, and deploying to them
    trials_s: float
    baselines_s: float
    block_s: float
    disk_bytes: int
    requests: int
    hosts: tuple[str, ...]


def hosts_needed(plan: Plan) -> tuple[str, ...]:
    """The zone of every host that is made for the plan; none where the machine that orch runs on is the host."""
    return () if plan.provider == "local" else tuple(host.zone for host in topology(plan).hosts)


def estimate(plan: Plan, costs: Costs | None = None) -> Estimate:
    """What a plan will take, by default with this project's own figures."""
    costs = costs or Costs()
    operations = {operation.id: operation for operation in plan.operations}
    cells_s: dict[str, float] = {placement.id: 0.0 for placement in plan.placements}
    floors: dict[str, set[tuple[str, int, int]]] = {placement.id: set() for placement in plan.placements}
    placements = {placement.id: placement for placement in plan.placements}
    rows = 0
    for cell in plan.cells:
        operation = operations[cell.operation]
        trial = _Trial(plan, cell, operation, placements[cell.placement], costs)
        cells_s[cell.placement] += trial.elapsed_s
        floors[cell.placement].add((cell.connection, *_size_class(operation)))
        rows += trial.rows
    looks_s = sum(
        _look_s(plan, placements[name], len(floors[name]), costs) * (2 + int(seconds // 60))
        for name, seconds in cells_s.items()
    )
    hosts = hosts_needed(plan)
    block_s = sum(cells_s.values())
    hosts_s = _hosts_s(plan, costs)
    stored = rows * plan.repeats * plan.requesters
    files = len(plan.trials) * plan.requesters
    return Estimate(
        duration_s=hosts_s + (block_s + looks_s) * plan.repeats + costs.report_s,
        hosts_s=hosts_s,
        trials_s=block_s * plan.repeats,
        baselines_s=looks_s * plan.repeats,
        block_s=block_s,
        disk_bytes=stored * _PARQUET_ROW_BYTES + files * _PARQUET_FILE_BYTES + rows * plan.requesters * _ROW_BYTES,
        requests=stored,
        hosts=hosts,
    )


def short_of_room(plan: Plan, costs: Costs | None = None) -> tuple[Cell, ...]:
    """The open loops that will be late: at their rate, more requests are under way than they may have (Little's law)."""
    operations = {operation.id: operation for operation in plan.operations}
    placements = {placement.id: placement for placement in plan.placements}
    return tuple(
        cell
        for cell in plan.cells
        if cell.load.rate_per_s is not None
        and cell.load.rate_per_s
        * _Trial(plan, cell, operations[cell.operation], placements[cell.placement], costs or Costs()).latency_s
        > cell.load.concurrency
    )


def _cores(plan: Plan) -> float:
    """Cores that a host may use, at most one; one on this machine and on machine types that we do not know."""
    machine = MACHINES.get(plan.machine or "")
    return min(1.0, machine.cores) if machine else 1.0


def _rtt_s(placement: Placement) -> float:
    """The round trip that is wanted, else the published one between these zones, else a guess by kind."""
    if placement.kind == "local":
        return _LOOPBACK_RTT_S
    published = profile(placement.from_zone or HOME_ZONE, placement.to_zone or HOME_ZONE)
    rtt_ms = placement.link.rtt_ms or (published.rtt_ms if published else None)
    return rtt_ms / 1000 if rtt_ms else _UNKNOWN_RTT_S[placement.kind]


def _size_class(operation: Operation) -> tuple[int, int]:
    size = operation.request_bytes, operation.reply_bytes
    return size if max(size) > _SEGMENT_BYTES else (0, 0)


class _Trial:
    """What one trial of a cell takes."""

    def __init__(self, plan: Plan, cell: Cell, operation: Operation, placement: Placement, costs: Costs) -> None:
        self._cell, self._operation, self._placement, self._costs = cell, operation, placement, costs
        self._cores = _cores(plan)
        self._ends_share_a_host = placement.kind == "local" and plan.provider != "local"
        self._round_trips_to_open = int(plan.resolved.get(cell.stack, {}).get("round_trips_to_open", 1))
        load, warmup = cell.load, cell.warmup
        warmup_each_s = self._each_s()  # always a closed loop
        each_s = warmup_each_s if load.rate_per_s is None else 1 / load.rate_per_s
        ends = [] if load.requests is None else [load.requests * each_s]
        measured_s = min([*ends, *([] if load.duration_s is None else [load.duration_s])])
        warmup_s = min(max(warmup.requests * warmup_each_s, warmup.at_least_s), warmup.at_most_s)
        self.rows = math.ceil(measured_s / each_s + warmup_s / warmup_each_s)
        self.latency_s = self._distance_s() + self._cpu_s()
        self.elapsed_s = self._overhead_s(plan) + warmup_s + measured_s

    def _overhead_s(self, plan: Plan) -> float:
        remote_s = 0.0 if plan.provider == "local" else self._costs.remote_s
        starting = self._costs.start_s / (1 if self._ends_share_a_host else 2)  # two hosts start at the same time
        if plan.provider == "local":
            starting = self._costs.start_s
        return starting / self._cores + self._costs.between_s + remote_s + 5 * _rtt_s(self._placement)

    def _each_s(self) -> float:
        """Seconds between two requests of a closed loop with as many in flight."""
        cpu_s = self._cpu_s()
        busiest_s = (cpu_s if self._ends_share_a_host else cpu_s / 2) / self._cores
        return max((self._distance_s() + cpu_s) / self._cell.load.concurrency, busiest_s)

    def _cpu_s(self) -> float:
        """CPU of one request, both ends together."""
        body_bytes = self._operation.request_bytes + self._operation.reply_bytes
        opening_s = self._costs.open_s if self._cell.connection == "per-request" else 0.0
        small_s = self._costs.request_s.get(self._cell.stack, self._costs.default_request_s)
        return small_s + opening_s + self._costs.byte_s * body_bytes

    def _distance_s(self) -> float:
        """What the network takes of one request: round trips, and the time on the wire."""
        largest = max(self._operation.request_bytes, self._operation.reply_bytes)
        round_trips = 1
        if self._cell.connection == "per-request":
            round_trips += self._round_trips_to_open
            if largest > _INITIAL_WINDOW_BYTES:
                round_trips += math.ceil(math.log2(largest / _INITIAL_WINDOW_BYTES + 1)) - 1
        rate_mbit = self._placement.link.rate_mbit
        wire_s = (
            8 * (self._operation.request_bytes + self._operation.reply_bytes) / (rate_mbit * 1e6) if rate_mbit else 0.0
        )
        return round_trips * _rtt_s(self._placement) + wire_s


def _look_s(plan: Plan, placement: Placement, floors: int, costs: Costs) -> float:
    """One look at the floor: pings, and a short tcp exchange per size class and connection policy."""
    rtt_s = _rtt_s(placement)
    exchange_s = min(costs.floor_at_most_s, costs.floor_requests * (rtt_s + costs.default_request_s / _cores(plan)))
    start_s = costs.start_s / 2 / _cores(plan) + costs.between_s
    return costs.ping_s + 50 * rtt_s + floors * (exchange_s + start_s)


def _hosts_s(plan: Plan, costs: Costs) -> float:
    if plan.provider == "local":
        return 0.0
    made_s = costs.lab_s if plan.provider == "lab" else costs.gcp_s
    return made_s + costs.deploy_s / _cores(plan)


def cost_of(plan: Plan, hours: float) -> float | None:
    """What the plan's hosts cost for so long, in US dollars: 0 where nobody sends a bill, None where no price is known."""
    if plan.provider != "gcp" or plan.machine is None:
        return 0.0
    return cost_usd(plan.machine, [region_of(zone) for zone in hosts_needed(plan)], hours)
