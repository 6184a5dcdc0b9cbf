"""How long a run will take, how much disk it needs, and how many hosts.

A request costs round trips and CPU. Round trips are counted: one for the request, those of opening a connection where
each request opens one, and those that TCP's slow start (RFC 5681, with the initial window of RFC 6928) adds to a large
body on a fresh connection. CPU is a figure per request and per byte for each end, divided by the share of a core that
the machine type has; the larger of distance and CPU decides, since a quota is slept off while the network is waited
for. Runs that were measured replace the CPU figures: see `Costs`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.experiment.machines import MACHINES
from orchestrator.experiment.plan import Cell, Operation, Placement, Plan
from orchestrator.experiment.regions import HOME_ZONE

_INITIAL_WINDOW_BYTES = 10 * 1448  # RFC 6928, with the usual segment of an Ethernet path
_ROW_BYTES = 80  # protos/timings.md
_PARQUET_ROW_BYTES = 12  # zstd, delta encoding; the constant columns cost next to nothing
_PARQUET_FILE_BYTES = 12_000
_LOOPBACK_RTT_S = 0.00005


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What things cost on one whole core, in seconds.

    The defaults were measured with this project's own responders and clients on a virtual machine of 2 cores; they are
    right within a factor of 1.5 or so. `request_s` is the CPU time of one small request at both ends together, by stack
    id where it was measured (a run's `results` know it), else `default_request_s`.
    """

    request_s: Mapping[str, float] = field(default_factory=dict)
    default_request_s: float = 0.0006
    open_s: float = 0.0002  # a connection, both ends
    byte_s: float = 1.5e-9  # a byte of a body, both ends
    start_s: float = 0.9  # CPU of starting a responder and a requester
    between_s: float = 0.3  # what a trial waits for besides: readiness, record, conversion
    remote_s: float = 0.8  # what starting and fetching over SSH adds to a trial
    baseline_s: float = 3.0  # ping and tcp echo, once, beside their round trips
    baseline_round_trips: int = 300
    provision_s: Mapping[str, float] = field(default_factory=lambda: {"local": 0.0, "lab": 60.0, "gcp": 180.0})


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a plan will take. Seconds, bytes, and zones with one entry per host (none for provider `local`)."""

    duration_s: float
    provision_s: float
    trials_s: float
    baselines_s: float
    block_s: float
    disk_bytes: int
    requests: int
    hosts: tuple[str, ...]


def hosts_needed(plan: Plan) -> tuple[str, ...]:
    """The zone of every host: one responder per zone that answers, N requesters per zone that asks, shared by all
    placements; both ends of a local placement stand on the responder's host."""
    if plan.provider == "local":
        return ()
    answering = {p.to_zone or HOME_ZONE for p in plan.placements}
    asking = {p.from_zone or HOME_ZONE for p in plan.placements if p.kind != "local"}
    return (*sorted(answering), *(zone for zone in sorted(asking) for _ in range(plan.requesters)))


def estimate(plan: Plan, costs: Costs | None = None) -> Estimate:
    """What a plan will take, by default with figures of this project's own measurements."""
    costs = costs or Costs()
    operations = {operation.id: operation for operation in plan.operations}
    placements = {placement.id: placement for placement in plan.placements}
    block_s, rows = 0.0, 0
    for cell in plan.cells:
        seconds, requests = _trial(plan, cell, operations[cell.operation], placements[cell.placement], costs)
        block_s += seconds
        rows += requests
    trials_s = block_s * plan.repeats
    baselines_s = _baselines(plan, placements.values(), block_s, costs) * plan.repeats
    provision_s = costs.provision_s[plan.provider] / max(0.2, min(1.0, _cores(plan))) if plan.provider == "lab" else costs.provision_s[plan.provider]
    requests = rows * plan.repeats * plan.requesters
    files = len(plan.trials) * plan.requesters
    return Estimate(
        duration_s=provision_s + trials_s + baselines_s,
        provision_s=provision_s,
        trials_s=trials_s,
        baselines_s=baselines_s,
        block_s=block_s,
        disk_bytes=requests * _PARQUET_ROW_BYTES + files * _PARQUET_FILE_BYTES + rows * _ROW_BYTES,
        requests=requests,
        hosts=hosts_needed(plan),
    )


def _cores(plan: Plan) -> float:
    """Cores that one end may use; on this machine, and on machine types that we do not know, one."""
    machine = MACHINES.get(plan.machine or "")
    return machine.cores if machine else 1.0


def _rtt_s(placement: Placement) -> float:
    return _LOOPBACK_RTT_S if placement.link.rtt_ms is None else placement.link.rtt_ms / 1000


def request_s(plan: Plan, cell: Cell, operation: Operation, placement: Placement, costs: Costs) -> float:
    """Seconds of one request, alone on its way."""
    fresh = cell.connection == "per-request"
    round_trips = 1 + (1 if fresh else 0)
    largest = max(operation.request_bytes, operation.reply_bytes)
    if fresh and largest > _INITIAL_WINDOW_BYTES:
        round_trips += math.ceil(math.log2(largest / _INITIAL_WINDOW_BYTES + 1)) - 1
    transferred_s = 0.0
    if placement.link.rate_mbit:
        transferred_s = 8 * (operation.request_bytes + operation.reply_bytes) / (placement.link.rate_mbit * 1e6)
    distance_s = round_trips * _rtt_s(placement) + transferred_s
    cpu_s = _cpu_s(cell, operation, costs)
    cores = min(1.0, _cores(plan))
    busiest_s = cpu_s if placement.kind == "local" else cpu_s / 2
    return max(distance_s + cpu_s, busiest_s / cores)


def _cpu_s(cell: Cell, operation: Operation, costs: Costs) -> float:
    """CPU seconds of one request, both ends together."""
    body_s = costs.byte_s * (operation.request_bytes + operation.reply_bytes)
    opening_s = costs.open_s if cell.connection == "per-request" else 0.0
    return costs.request_s.get(cell.stack, costs.default_request_s) + opening_s + body_s


def _trial(plan: Plan, cell: Cell, operation: Operation, placement: Placement, costs: Costs) -> tuple[float, int]:
    """Seconds of one trial, everything included, and the rows it stores."""
    one_s = request_s(plan, cell, operation, placement, costs)
    cpu_s = _cpu_s(cell, operation, costs)
    cores = min(1.0, _cores(plan))
    # N in flight share the wait for the network, not the CPU of the busiest end.
    busiest_s = (cpu_s if placement.kind == "local" and plan.provider != "local" else cpu_s / 2) / cores
    each_s = max(one_s / cell.load.concurrency, busiest_s)
    if cell.load.rate_per_s is not None:
        each_s = max(1 / cell.load.rate_per_s, 0.0)
    measured_s = _until(cell.load.requests, cell.load.duration_s, each_s)
    warmup_s = min(max(cell.warmup.requests * each_s, cell.warmup.at_least_s), cell.warmup.at_most_s)
    start_s = costs.start_s / cores + costs.between_s
    if plan.provider != "local":
        start_s += costs.remote_s + 4 * _rtt_s(placement)
    rows = math.ceil((measured_s + warmup_s) / each_s)
    return start_s + warmup_s + measured_s, rows


def _until(requests: int | None, duration_s: float | None, each_s: float) -> float:
    ends = [] if requests is None else [requests * each_s]
    if duration_s is not None:
        ends.append(duration_s)
    return min(ends)


def _baselines(plan: Plan, placements: Sequence[Placement] | object, block_s: float, costs: Costs) -> float:
    """Seconds of the baselines of one block: before and after it at every placement, and once a minute within."""
    assert isinstance(placements, Sequence) or hasattr(placements, "__iter__")  # noqa: S101
    each = [costs.baseline_s / min(1.0, _cores(plan)) + costs.baseline_round_trips * _rtt_s(p) for p in plan.placements]
    within = int(block_s // 60)
    return 2 * sum(each) + within * sum(each) / len(each)
