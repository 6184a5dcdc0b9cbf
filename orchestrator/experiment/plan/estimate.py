"""How long a run will take, how much disk it needs, how many hosts, and what these cost.

A request costs round trips and CPU. Round trips: one for the request, those of opening a connection where each request opens
one, those of TCP's slow start (RFC 5681, with the initial window of RFC 6928) for a large body on a fresh connection, and
those of a window that the cell sets. CPU is a figure per request and per byte; a host with a share of a core is held to it
by its busiest end, and waits for the network meanwhile, so the larger of the two decides.

Prices of traffic are US dollars per GiB, and **assumptions** of 2026-11-21: Google's list prices within a region and to the
internet, and between regions of two prices the one that is rather too high.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass

from orchestrator import record_layout
from orchestrator.experiment.model.factors import knobs
from orchestrator.experiment.plan.cells import in_all, processes_of, rounds_beyond_first, workers_of
from orchestrator.experiment.plan.plan import Cell, Operation, Placement, Plan
from orchestrator.experiment.plan.topology import profile, region_of, topology
from orchestrator.experiment.providers import MACHINES, PROVIDERS, cost_usd
from services.python.contract.streams import reads_for_s

_INITIAL_WINDOW = 10  # segments (RFC 6928)
_FULL_SEGMENT_BYTES = 1448  # of an Ethernet path
_SEGMENT_BYTES = 1400  # bodies up to it share one tcp floor
_ROW_BYTES = record_layout.ROW.size
_PARQUET_ROW_BYTES = 12  # zstd, delta encoding; the constant columns cost next to nothing
_PARQUET_FILE_BYTES = 12_000
_OPENING = 8  # measure.baselines: the exchange that opens the window of a large floor is as many times as large
_FASTER = 2.0  # a closed loop without a count may make so many times the requests that are expected
_SHORTEST_RTT_S = 0.0002  # between two hosts: an emulated distance of zero takes about as long
_LEAST_OWN_S = 1e-5
_GUESSED_RTT_S = {"local": 0.00005, "same-zone": 0.0015, "cross-region": 0.1, "external": 0.02}


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What things cost, in seconds of CPU of one whole core unless said otherwise, on a virtual machine of 2 cores."""

    own_s: float | None = None  # a request of the one cell in question, both ends, where it was measured
    default_request_s: float = 0.0004
    open_s: float = 0.0002  # a connection, both ends
    byte_s: float = 1.5e-9  # a byte of a body, both ends
    codec_s: float = 1.5e-5  # a codec alone: a small message encoded, decoded, compared and entered
    codec_byte_s: float = 2.0e-8  # likewise, a byte of content
    start_s: float = 0.3  # starting a responder and a requester
    between_s: float = 0.3  # elapsed: readiness, record, conversion
    between_turns_s: float = 0.006  # elapsed: the warm-up of a turn, and its line
    remote_s: float = 0.3  # elapsed: starting and fetching over SSH
    ping_s: float = 1.0  # elapsed: 50 pings, beside their round trips
    floor_requests: int = 250
    floor_at_most_s: float = 2.5
    deploy_s: float = 12.0  # installing on a host, all hosts at once
    report_s: float = 5.0  # elapsed: checks and report


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a plan will take. Seconds, bytes, and zones with one entry per host (none for provider `local`)."""

    duration_s: float
    hosts_s: float  # making the hosts and installing on them
    teardown_s: float
    trials_s: float
    baselines_s: float
    disk_bytes: int
    requests: int
    hosts: tuple[str, ...]
    traffic_usd: float  # between zones, and out of the cloud (samples to the controller), at most


def hosts_needed(plan: Plan) -> tuple[str, ...]:
    """The zone of every host that is made for the plan; none where the machine that orch runs on is the host."""
    return () if not PROVIDERS[plan.provider].makes_hosts else tuple(host.zone for host in topology(plan).hosts)


def estimate(plan: Plan, costs: Costs = Costs()) -> Estimate:
    """What a plan will take, by default with this project's own figures."""
    operations = {operation.id: operation for operation in plan.operations}
    parts = {p.id: _Part(plan, p, costs) for p in plan.placements}
    for cell in plan.cells:
        parts[cell.placement].add(cell, operations[cell.operation])
    provider = PROVIDERS[plan.provider]
    hosts_s = provider.seconds_up + costs.deploy_s / _cores(plan) if provider.makes_hosts else 0.0
    teardown_s = provider.seconds_down if provider.makes_hosts else 0.0
    block_s = sum(part.trials_s for part in parts.values())
    looks_s = sum(part.looks_s for part in parts.values())
    rows = sum(part.rows for part in parts.values())
    files = sum(in_all(cell.factors) for cell in plan.cells) * plan.blocks
    return Estimate(
        duration_s=hosts_s + (block_s + looks_s) * plan.blocks + costs.report_s + teardown_s,
        hosts_s=hosts_s,
        teardown_s=teardown_s,
        trials_s=block_s * plan.blocks,
        baselines_s=looks_s * plan.blocks,
        disk_bytes=rows * plan.blocks * _PARQUET_ROW_BYTES + files * _PARQUET_FILE_BYTES + rows * _ROW_BYTES,
        requests=sum(part.samples for part in parts.values()) * plan.blocks,
        hosts=hosts_needed(plan),
        traffic_usd=_traffic_usd(plan, parts),
    )


def each_s(plan: Plan, cell: Cell, own_s: float | None = None) -> float:
    """How often a closed loop of a cell gets a reply, in seconds; `own_s`: what both ends take of a request, if known."""
    return _trial(plan, cell, own_s).each_s


def own_s(plan: Plan, cell: Cell, latency_s: float) -> float:
    """What both ends take of a request that took `latency_s`, by what the network takes of it."""
    return max(latency_s - _trial(plan, cell, 0.0).latency_s, _LEAST_OWN_S)


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What the plan sends to some stacks: the highest rate of open loops, the most in flight of closed ones."""

    requests: int
    requests_at_most: int
    rate_per_s: float
    in_flight: int


def sent_to(plan: Plan, stacks: Container[str]) -> Sent:
    """About what the plan sends to these stacks (ids)."""
    cells = [(cell, _trial(plan, cell)) for cell in plan.cells if cell.stack in stacks]
    rates = [(cell, cell.load.rate_per_s if cell.find is None else cell.find.highest) for cell, _ in cells]
    return Sent(
        requests=plan.blocks * sum(trial.samples * cell.calls for cell, trial in cells),
        requests_at_most=plan.blocks * sum(t.samples_at_most * c.calls * c.rounds for c, t in cells),
        rate_per_s=max((rate * cell.calls for cell, rate in rates if rate is not None), default=0.0),
        in_flight=max((c.load.concurrency for c, rate in rates if rate is None), default=0),
    )


def _trial(plan: Plan, cell: Cell, own_s: float | None = None) -> _Trial:
    operation = next(operation for operation in plan.operations if operation.id == cell.operation)
    placement = next(placement for placement in plan.placements if placement.id == cell.placement)
    return _Trial(plan, cell, operation, placement, Costs(own_s=own_s))


class _Part:
    """What one block of one placement takes: its trials, and the readings of its floor."""

    def __init__(self, plan: Plan, placement: Placement, costs: Costs) -> None:
        self._plan, self._placement, self._costs = plan, placement, costs
        self._externals = {stack.id for stack in plan.stacks if stack.running is not None}  # no floor stands there
        self._floors: dict[tuple[str, int, int], Operation] = {}
        self._rounds: dict[tuple[str, int, int], int] = {}  # of floors that take turns with their cells
        self.trials_s = 0.0
        self.samples = self.rows = 0
        self._bytes = 0.0

    def add(self, cell: Cell, operation: Operation) -> None:
        """Count a cell of the placement."""
        trial = _Trial(self._plan, cell, operation, self._placement, self._costs)
        self.trials_s += trial.elapsed_s
        self.samples += trial.samples
        self.rows += trial.samples * (1 + (cell.parts or 0))
        self._bytes += 0.0 if cell.kind == "codec" else trial.samples_at_most * operation.calls * wire_bytes(operation)
        if cell.kind not in ("codec", "stream") and cell.stack not in self._externals:
            size = operation.request_bytes, operation.reply_bytes
            key = cell.connection, *(size if max(size) > _SEGMENT_BYTES else (0, 0))
            self._floors[key] = operation
            self._rounds[key] = cell.turns.rounds if cell.turns and self._rounds.get(key, 1) else 0

    @property
    def looks_s(self) -> float:
        if not self._floors:
            return 0.0
        rtt_s, costs, cores = round_trip_s(self._placement), self._costs, _cores(self._plan)
        rounds = [number for number in self._rounds.values() if number]
        exchange_s = min(costs.floor_at_most_s, costs.floor_requests * (rtt_s + costs.default_request_s / cores))
        floor_s = exchange_s + costs.start_s / 2 / cores + costs.between_s
        look_s = costs.ping_s + 50 * rtt_s + (len(self._floors) - len(rounds)) * floor_s
        return look_s * self._looks + sum(costs.start_s + number * costs.between_turns_s for number in rounds)

    @property
    def bytes(self) -> float:
        """On the wire from one requester and back, at most."""
        exchanges = self._costs.floor_requests + _OPENING
        return self._bytes + self._looks * exchanges * sum(map(wire_bytes, self._floors.values()))

    @property
    def _looks(self) -> int:
        return 2 + int(self.trials_s // 60)


def _cores(plan: Plan) -> float:
    """Cores that a host may use, at most one; one on this machine and on machine types that we do not know."""
    machine = MACHINES.get(plan.machine or "")
    return min(1.0, machine.cores) if machine else 1.0


def round_trip_s(placement: Placement) -> float:
    """The round trip that is wanted, else the published one between these zones, else a guess by kind."""
    if placement.link.rtt_ms is not None:
        return max(placement.link.rtt_ms / 1000, _SHORTEST_RTT_S)
    published = profile(placement.from_zone or "", placement.to_zone or "")
    if published is None or not published.rtt_ms or placement.kind in ("local", "external"):
        return _GUESSED_RTT_S[placement.kind]
    return published.rtt_ms / 1000


class _Trial:
    """What one trial of a cell takes."""

    def __init__(self, plan: Plan, cell: Cell, operation: Operation, placement: Placement, costs: Costs) -> None:
        self._cell, self._operation, self._placement, self._costs = cell, operation, placement, costs
        self._cores = _cores(plan)
        self._ends_share_a_host = placement.kind == "local" and PROVIDERS[plan.provider].makes_hosts
        opening = int(plan.resolved.get(cell.stack, {}).get("round_trips_to_open", 1))
        self._round_trips_to_open = opening + cell.handshakes
        warmup, turns = cell.warmup, cell.turns
        load = cell.load if turns is None else turns.load_of(cell.load, turns.in_block)
        self.latency_s = self._distance_s() + self._cpu_s()
        if cell.kind == "stream":
            self._count_events(plan)
            return
        warmup_each_s = self.each_s  # always a closed loop
        each_s = max(warmup_each_s, (self.latency_s + load.think_s) / load.concurrency)
        if cell.find is not None:
            each_s = 1 / math.sqrt(cell.find.lowest * cell.find.highest)  # the first rate tried, and the middle of all
        elif load.rate_per_s is not None:
            each_s = 1 / load.rate_per_s
        asked_s = None if load.requests is None else load.requests * each_s
        measured_s = min(end_s for end_s in (asked_s, load.duration_s) if end_s is not None)
        warmed = in_all(cell.factors) * warmup.requests  # each requester has a warm-up of its own
        warmup_s = min(max(warmed * warmup_each_s, warmup.at_least_s), warmup.at_most_s)
        self.samples = math.ceil(measured_s / each_s + warmup_s / warmup_each_s)
        # A count is the most that is requested; `duration` or `at_most` may only end it earlier than we think.
        counted = load.requests if load.requests is not None else measured_s * (load.rate_per_s or 1 / each_s)
        is_counted = load.requests is not None or load.rate_per_s is not None
        warmed_at_most = max(warmed, warmup.at_least_s / warmup_each_s * _FASTER)
        self.samples_at_most = math.ceil(counted * (1 if is_counted else _FASTER) + warmed_at_most)
        between_s = 0.0
        if turns is not None:
            between_s = turns.in_block * self._costs.between_turns_s
            warmed_of_turns = turns.in_block * turns.warm_up * load.concurrency
            self.samples += warmed_of_turns
            self.samples_at_most += math.ceil((counted if is_counted else 0) / 2 + warmed_of_turns * 1.5)  # some again
        self.elapsed_s = self._overhead_s(plan) + warmup_s + measured_s + between_s

    def _count_events(self, plan: Plan) -> None:
        """Of a stream: its schedule says how many rows there are, and how long they take."""
        cell, per_second = self._cell, self._operation.payload["per_second"]
        warm_s, duration_s = min(cell.warmup.at_least_s, cell.warmup.at_most_s), cell.load.duration_s or 0.0
        self.samples = math.ceil((per_second * (warm_s + duration_s) + 2) * cell.load.concurrency)
        self.samples_at_most = self.samples
        self.elapsed_s = self._overhead_s(plan) + warm_s + reads_for_s(duration_s, per_second, knobs(cell.factors))

    def _overhead_s(self, plan: Plan) -> float:
        costs, makes_hosts = self._costs, PROVIDERS[plan.provider].makes_hosts
        starting = costs.start_s / (2 if makes_hosts and not self._ends_share_a_host else 1)  # two hosts start at once
        starting *= (processes_of(self._cell.factors) + workers_of(self._cell.factors)) / 2
        remote_s = costs.remote_s if makes_hosts else 0.0
        return starting / self._cores + costs.between_s + remote_s + 5 * round_trip_s(self._placement)

    @property
    def each_s(self) -> float:
        """Seconds between two requests of a closed loop with as many in flight."""
        cpu_s = self._cpu_s()
        busiest_s = (cpu_s if self._ends_share_a_host else cpu_s / 2) / self._cores
        return max((self._distance_s() + cpu_s) / self._cell.load.concurrency, busiest_s)

    def _cpu_s(self) -> float:
        cell, costs = self._cell, self._costs
        body_bytes = self._operation.request_bytes + self._operation.reply_bytes
        if cell.kind == "codec":
            return costs.codec_s + costs.codec_byte_s * body_bytes
        opening_s = costs.open_s if cell.connection == "per-request" else 0.0
        if costs.own_s is not None:
            return opening_s + costs.own_s
        return opening_s + cell.calls * costs.default_request_s + self._operation.calls * costs.byte_s * body_bytes

    def _distance_s(self) -> float:
        """What the network takes of one request, or of all calls of a task: round trips, and the time on the wire."""
        if self._cell.kind == "codec":
            return 0.0
        bodies, link = (self._operation.request_bytes, self._operation.reply_bytes), self._placement.link
        held_back = sum(rounds_beyond_first(self._cell.factors, body) for body in bodies)
        round_trips = self._cell.in_a_row * (1 + held_back)
        if self._cell.connection == "per-request":
            round_trips += self._round_trips_to_open
            window_bytes = (link.initial_window or _INITIAL_WINDOW) * _FULL_SEGMENT_BYTES
            if max(bodies) > window_bytes:
                round_trips += math.ceil(math.log2(max(bodies) / window_bytes + 1)) - 1
        wire_s = 8 * sum(bodies) / (link.rate_mbit * 1e6) if link.rate_mbit else 0.0
        return round_trips * round_trip_s(self._placement) + self._operation.calls * wire_s


def cost_of(plan: Plan, hours: float) -> float | None:
    """What the plan's hosts cost for so long, in US dollars, without their traffic; None where no price is known."""
    if not PROVIDERS[plan.provider].costs_money or plan.machine is None:
        return 0.0
    if PROVIDERS[plan.provider].prices is None:
        return None
    return cost_usd(plan.machine, [region_of(zone) for zone in hosts_needed(plan)], hours)


_GIB = 2**30
_BETWEEN_ZONES_USD, _BETWEEN_REGIONS_USD, _BETWEEN_CONTINENTS_USD, _OUT_USD = 0.01, 0.02, 0.15, 0.12
_TEXT = 4 / 3  # bytes written as base64: text protocols do, and a limit must hold for them too
_PACKETS = 1.05  # headers of TCP, IP and Ethernet
_HEADS_BYTES = 1_000  # of a request and its reply, connection included
_CONTROL_BYTES = 50_000  # of a trial: SSH


def usd_per_gib(from_zone: str, to_zone: str) -> float:
    """What a GiB costs from one zone to another."""
    if from_zone == to_zone:
        return 0.0
    if region_of(from_zone) == region_of(to_zone):
        return _BETWEEN_ZONES_USD
    continents = {zone.partition("-")[0] for zone in (from_zone, to_zone)}
    return _BETWEEN_REGIONS_USD if continents in ({"us"}, {"europe"}) else _BETWEEN_CONTINENTS_USD


def wire_bytes(operation: Operation) -> float:
    """What one request and its reply are on the wire, both directions together, at most."""
    return (operation.request_bytes + operation.reply_bytes) * _TEXT * _PACKETS + _HEADS_BYTES


def _traffic_usd(plan: Plan, parts: Mapping[str, _Part]) -> float:
    """What it costs to send what each placement (by id) may, and to fetch samples; nothing without prices."""
    if PROVIDERS[plan.provider].prices is None:
        return 0.0
    wanted = topology(plan)
    zones = {host.name: host.zone for host in wanted.hosts}
    usd = 0.0
    for placement, part in parts.items():
        ends = wanted.ends[placement]
        if price := usd_per_gib(zones[ends.requesters[0]], zones[ends.responder]):
            usd += part.bytes * plan.blocks / _GIB * price
    fetched_bytes = sum(part.rows for part in parts.values()) * _ROW_BYTES * plan.blocks
    out = fetched_bytes + len(plan.trials) * plan.requesters * _CONTROL_BYTES
    return usd + out / _GIB * _OUT_USD
