"""Reads a run's samples once: by column, trial by trial, and keeps what summary and checks need of them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from orchestrator import quantities
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.evidence.joined_turns import counted, joined, turn_medians
from orchestrator.evidence.mixed_samples import COLUMNS_OF_MIXES, OperationsOfMix
from orchestrator.evidence.one_clock import OnHost, busiest, by_host, seen_in_all
from orchestrator.evidence.run_evidence import (
    COLUMNS,
    OK,
    BaselineReading,
    CellEvidence,
    Part,
    RunEvidence,
    Samples,
    StreamTrial,
    Totals,
    TrialEvidence,
    named,
    parts_of,
)
from orchestrator.evidence.searched import expanded
from orchestrator.evidence.stream_samples import COLUMNS as COLUMNS_OF_STREAMS
from orchestrator.evidence.stream_samples import StreamSamples, StreamsOfCell
from orchestrator.experiment.model.factors import is_in_pieces
from orchestrator.experiment.plan.cells import connections_in, in_all, seed_of, share_of
from orchestrator.experiment.plan.plan import Cell, Operation, Placement, Plan
from orchestrator.experiment.plan.topology import limit_of
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.findings.limits import SHORT_WINDOW_S
from orchestrator.findings.summary import DROPPED, FloorSummary, PartSummary, Strip, TrialSummary
from orchestrator.findings.trial_values import FIRST, FIRST_REQUEST, PER
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import Manifest, RequesterRecord, TrialRecord
from orchestrator.statistics import quantiles as st
from orchestrator.statistics.quantiles import Distribution, Nanoseconds
from services.python.contract.description import Description
from services.python.load.phases import rests

Observe = Callable[[Samples], Any]

BINS_PER_CELL = 240


def collect(
    run: RunFolder, observers: Mapping[str, Observe], of_whole: Mapping[str, Observe] = MappingProxyType({})
) -> RunEvidence:
    """Read everything. `observers` see each requester's samples once; what they return is kept for their checks.

    `of_whole` see what all requesters of a trial recorded as one record (`one_clock`); see `TrialEvidence.whole`.

    InvalidMeasurement when no trial has finished, or when a file is damaged (its name is in the message); UsageError
    when the manifest is of a newer version, or the run is still going on.
    """
    manifest = run.manifest()
    if manifest.state == "running":
        raise UsageError(
            f"run {manifest.run_id} is still in progress in another process",
            hint="wait until it has ended, or name another run",
        )
    plan, manifest = expanded(manifest)
    if not any(trial.outcome == "ok" for trial in manifest.trials):
        raise InvalidMeasurement(
            f"run {manifest.run_id} ({run.path}) has no finished trial: there is nothing to summarise",
            hint="why trials failed is in manifest.json and under logs/"
            + ("" if manifest.state == "complete" else "; `orch run --resume` continues it"),
        )
    readings, floors = _baselines(run, manifest, plan)
    by_cell: dict[str, list[TrialRecord]] = defaultdict(list)
    for trial in manifest.trials:
        by_cell[trial.cell].append(trial)
    near: dict[str, list[BaselineReading]] = defaultdict(list)
    for reading in readings:
        near[reading.record.placement].append(reading)
    cells = tuple(
        _cell(run, manifest, plan, cell, by_cell[cell.id], near[cell.placement], observers, of_whole)
        for cell in plan.cells
    )
    here = {_wherever(cell): cell.replies for cell in reversed(cells) if cell.placement.kind == "local"}
    cells = tuple(
        replace(
            cell,
            limit=limit_of(plan.provider, plan.machine),
            is_pinned=_is_pinned(manifest, plan, cell),
            one_host=None if cell.placement.kind == "local" else here.get(_wherever(cell)),
        )
        for cell in cells
    )
    return RunEvidence(manifest=manifest, plan=plan, cells=cells, readings=readings, floors=floors)


def _wherever(cell: CellEvidence) -> tuple[object, ...]:
    """What a cell has in common with the same one at another placement."""
    return (cell.cell.stack, cell.cell.operation, *cell.cell.setting_elsewhere)


def _is_pinned(manifest: Manifest, plan: Plan, cell: CellEvidence) -> bool:
    """Whether the scheduler cannot move the ends together or apart: each is on its own host, or kept on its CPUs."""
    if cell.placement.kind != "local":
        return True
    pin = cell.placement.pin or manifest.fleet.get("requester_cpus", plan.pin)
    return pin not in (None, "off") and not cell.is_external


def _parts(
    run: RunFolder,
    plan: Plan,
    cell: Cell,
    record: TrialRecord,
    wanted: Sequence[str],
    pieces: dict[int, list[Nanoseconds]],
    observers: Mapping[str, Observe],
    *,
    is_one_clock: bool,
) -> Iterator[tuple[RequesterRecord, Samples, Part]]:
    """Read the samples of a trial's requesters, turns joined; add the latencies of a sample's parts to `pieces`."""
    hosts = list(dict.fromkeys(requester.host for requester in record.requesters))
    for number, requester in enumerate(record.requesters):
        if not requester.samples:
            continue
        host, seed = hosts.index(requester.host), seed_of(plan.trials[record.index].seed, number)
        load = share_of(cell.factors, cell.load, host, requester.process)
        columns = run.samples(requester.samples, wanted)
        if record.turns:
            whole = columns
            columns = joined(whole, record)
            requester = counted(requester, record, whole, columns, load.concurrency)
            if turns := record.fitted_turns or cell.turns:
                load = turns.load_of(load, len(record.turns) - sum(record.disturbed_turns))
        if cell.kind == "stream":
            samples: Samples = StreamSamples(columns, replace(cell, load=load), is_one_clock=is_one_clock)
        else:
            is_open_loop, resting = load.rate_per_s is not None, rests(load, seed)
            samples = Samples(columns, is_open_loop=is_open_loop, in_flight=load.concurrency, rests=resting)
        if cell.kind in ("task", "codec"):
            for place, latencies in parts_of(columns).items():
                pieces[place].append(latencies)
        part = Part(
            host=requester.host,
            done=requester.done,
            seen={name: see(samples) for name, see in observers.items()} if samples.measured else {},
            load=load,
            connections=connections_in(cell, host, requester.process) * (cell.mixed or 1),
            seed=seed,
            process=requester.process,
            heard=requester.heard,
        )
        yield requester, samples, part


def _cell(
    run: RunFolder,
    manifest: Manifest,
    plan: Plan,
    cell: Cell,
    trials: list[TrialRecord],
    near: Sequence[BaselineReading],
    observers: Mapping[str, Observe],
    of_whole: Mapping[str, Observe],
) -> CellEvidence:
    finished = [t for t in trials if t.outcome == "ok"]
    pool: list[Nanoseconds] = []
    failures: list[int] = []
    ended_ns: list[Nanoseconds] = []  # how long requests without a right reply took
    pieces: dict[int, list[Nanoseconds]] = defaultdict(list)
    limit_ns = cell.timeout_s * cell.calls * 1e9
    strips = StripMaker(max(2, BINS_PER_CELL // max(1, len(finished))))
    placement = next(p for p in plan.placements if p.id == cell.placement)
    is_one_clock = is_one_machine(plan, placement)
    events = StreamsOfCell(cell, is_one_clock=is_one_clock) if cell.kind == "stream" else None
    operation = next(o for o in plan.operations if o.id == cell.operation)
    mix = OperationsOfMix(operation) if operation.mix else None
    wanted = (*COLUMNS, *COLUMNS_OF_STREAMS) if events is not None else COLUMNS_OF_MIXES if mix is not None else COLUMNS

    def add(record: TrialRecord) -> TrialEvidence:  # what it reads is free again before all trials are pooled
        parts = list(_parts(run, plan, cell, record, wanted, pieces, observers, is_one_clock=is_one_clock))
        samples = [samples for _, samples, _ in parts]
        stream = None if events is None else events.add(record, [s for s in samples if isinstance(s, StreamSamples)])
        hosts = by_host([(requester, samples) for requester, samples, _ in parts])
        errors = _errors(samples, stream)
        trial = TrialEvidence(
            record=record,
            summary=None,
            parts=tuple(part for _, samples, part in parts if samples.measured),
            totals=_totals(cell, hosts),
            errors=errors,
            not_sent=sum(s.never_sent_ns.size for s in samples),
            stream=stream,
            readings=tuple(k for k in near if k.record.block == record.block),
            whole=seen_in_all([host.whole for host in hosts if host.whole.measured], of_whole),
        )
        ordered = st.merged([s.ordered_ns for s in samples])
        if mix is not None:
            mix.add(samples, trial.totals.window_s)
        pool.append(ordered)
        failures.append(sum(errors.values()))
        ended_ns.extend(s.received_ns[s.failed] - s.sent_ns[s.failed] for s in samples if s.failed.any())
        strips.add(record.index, [host.whole for host in hosts])
        return replace(trial, summary=_trial_summary(trial, ordered, hosts, manifest.hosts))

    evidence = [add(record) for record in finished]
    waits = cell.kind != "stream" and any("timeout" in trial.errors for trial in evidence)
    of_all, replies = _distributions(pool, failures, limit_ns if waits else None, [] if events else ended_ns)
    return CellEvidence(
        cell=cell,
        stack=next(s for s in plan.stacks if s.id == cell.stack),
        operation=operation,
        placement=placement,
        requesters=in_all(cell.factors),
        trials=tuple(evidence),
        failed=tuple(t for t in trials if t.outcome != "ok"),
        planned=sum(1 for t in plan.trials if t.cell == cell.id),
        distribution=of_all,
        replies=replies,
        strip=strips.strip(),
        is_one_machine=is_one_clock,
        parts_ms=tuple(_parts_ms(cell, operation, pieces)),
        stream=events.summary(of_all) if events else None,
        mixed=() if mix is None else mix.summary(limit_ns),
    )


def _errors(samples: Sequence[Samples], stream: StreamTrial | None) -> dict[str, int]:
    if stream is not None and stream.counts.dropped:
        return {DROPPED: stream.counts.dropped}
    return dict(sum((Counter(named(s.status[s.failed])) for s in samples), Counter()))


def is_one_machine(plan: Plan, placement: Placement) -> bool:
    """Whether both ends run on one host: they share its CPUs, its counters and its monotonic clock."""
    return placement.kind == "local" or PROVIDERS[plan.provider].hosts_are_this_machine


def _parts_ms(cell: Cell, operation: Operation, pieces: Mapping[int, Sequence[Nanoseconds]]) -> Iterator[PartSummary]:
    """Each part of a sample, from each trial's rows of it; of a sample made of several operations, by their names."""
    names = operation.made_of if is_in_pieces(cell.factors) else ()
    for place, took in sorted(pieces.items()):
        name = names[place - 1] if place <= len(names) else quantities.of_part(cell.kind, place)
        if (pooled := st.of_trials([np.sort(each) for each in took])) is not None:
            yield PartSummary(name=name, n=pooled.n, median=pooled.median or 0.0, p99=pooled.p99)


def _distributions(
    trials: list[Nanoseconds], failures: list[int], limit_ns: float | None, ended_ns: list[Nanoseconds]
) -> tuple[Distribution | None, Distribution | None]:
    """Of all requests of a cell, and of the right replies alone; None without one.

    Without a limit no failed request waited for one: then `ended_ns` says after which time they ended; of an event that
    was dropped nothing is known.
    """
    whole = st.of_trials(trials, failures, limit_ns)
    replies = st.of_trials(trials) if any(failures) else whole
    if whole is not None and limit_ns is None and any(failures):
        ended = float(np.median(np.concatenate(ended_ns))) / st.NS_PER_MS if ended_ns else None
        whole = replace(whole, limit=None, ended=ended)
    return whole, replies


def _trial_summary(
    trial: TrialEvidence, ordered: Nanoseconds, hosts: Sequence[OnHost], described: Mapping[str, Description]
) -> TrialSummary | None:
    record, totals, not_sent = trial.record, trial.totals, trial.not_sent
    failed = sum(trial.errors.values())
    if not ordered.size + failed or totals.rate_per_s is None:
        return None
    span_ns = max((host.whole.whole_span_ns for host in hosts), default=0)
    median = st.quantile(ordered, 0.5, failed) / st.NS_PER_MS
    p99 = st.supported_quantile(ordered, 0.99, failed)
    return TrialSummary(
        index=record.index,
        block=record.block,
        n=int(ordered.size),
        errors=failed,
        median=st.finite(median),
        p99=st.finite(p99),
        mean=float(ordered.mean()) / st.NS_PER_MS if ordered.size else None,
        minimum=float(ordered[0]) / st.NS_PER_MS if ordered.size else None,
        throughput_per_s=totals.rate_per_s,
        cpu_share=busiest(
            record.requesters, {name: facts.usable_cpus or facts.cpus for name, facts in described.items()}
        ),
        started_wall_ns=record.started_wall_ns,
        ended_wall_ns=record.ended_wall_ns,
        censored=tuple(name for name, value in (("median", median), ("p99", p99)) if value == math.inf),
        responder_cpu_share=cpu_share(record, span_ns),
        responder_window_s=span_ns / 1e9,
        not_sent=not_sent,
        offered_per_s=_offered_per_s([host.whole for host in hosts]),
        unsent_moves=_moves(ordered, failed, not_sent) if not_sent else {},
        values=values(record, ordered, failed, totals.first_request_ms),
        retransmits=total([getattr(p.done.wire, "retransmits", None) for p in record.requesters]),
        turns=turn_medians(hosts[0].whole, record) if record.turns else (),
    )


def _offered_per_s(parts: list[Samples]) -> float | None:
    """What was due of all requesters, sent or not; None in a closed loop, or with fewer than two requests."""
    rates = []
    for samples in parts:
        due = np.concatenate([samples.intended_ns, samples.never_sent_ns])
        if not samples.is_open_loop or due.size < 2 or due.max() == due.min():
            return None
        rates.append((due.size - 1) * 1e9 / float(due.max() - due.min()))
    return sum(rates) if rates else None


def _moves(ordered: Nanoseconds, failed: int, not_sent: int) -> dict[str, float | None]:
    """See `TrialSummary.unsent_moves`; only of percentiles that are shown."""
    moves: dict[str, float | None] = {}
    for name, at in (("median", 0.5), ("p99", 0.99)):
        value = st.supported_quantile(ordered, at, failed)
        if value is not None and 0 < value < math.inf:
            moves[name] = st.finite(st.quantile(ordered, at, failed + not_sent) / (value * st.NS_PER_MS))
    return moves


def _totals(cell: Cell, hosts: Sequence[OnHost]) -> Totals:
    rates = [host.rate_per_s for host in hosts if host.whole.measured]
    parts = [host.whole for host in hosts]
    sent, received = (_known_sum([getattr(s, name) for s in parts]) for name in ("bytes_sent", "bytes_received"))
    longest_s = max((s.span_ns for s in parts), default=0) / 1e9
    larger = max((b for b in (sent, received) if b is not None), default=None)
    bytes_per_s = None if larger is None else st.per_second(larger, longest_s)
    has_firsts = cell.connection != "per-request" and cell.kind != "stream"
    firsts = [s.first_requests_ns for s in parts] if has_firsts else []
    pooled = st.merged([np.sort(f) for f in firsts if f.size])
    ok = sum(int(s.ok.sum()) for s in parts)
    rate = sum(r for r in rates if r is not None) if any(r is not None for r in rates) else None
    return Totals(
        ok=ok,
        body_sent=sent,
        body_received=received,
        rate_per_s=rate,
        goodput_mbit_per_s=None if bytes_per_s is None else bytes_per_s * 8 / 1e6,
        first_request_ms=st.quantile(pooled, 0.5) / st.NS_PER_MS if pooled.size else None,
        window_s=None if rate is None else ok / rate if rate else longest_s,
    )


def _known_sum(columns: list[Nanoseconds]) -> int | None:
    """The sum of byte counts; None when some are unknown (-1)."""
    if not columns or any(c.size and c.min() < 0 for c in columns):
        return None
    return sum(int(c.sum()) for c in columns)


def _baselines(
    run: RunFolder, manifest: Manifest, plan: Plan
) -> tuple[tuple[BaselineReading, ...], tuple[FloorSummary, ...]]:
    readings: list[BaselineReading] = []
    groups: dict[tuple[Any, ...], list[tuple[BaselineReading, Nanoseconds]]] = defaultdict(list)
    for record in manifest.baselines:
        columns = run.samples(record.samples, ("phase", "sent_ns", "received_ns", "status"))
        kept = (columns["phase"] == 1) & (columns["status"] == OK)
        ordered = np.sort((columns["received_ns"] - columns["sent_ns"])[kept])
        reading = BaselineReading(
            record=record,
            n=int(ordered.size),
            lost=int((columns["phase"] == 1).sum()) - int(ordered.size),
            minimum_ns=int(ordered[0]) if ordered.size else None,
            median_ns=st.quantile(ordered, 0.5) if ordered.size else None,
        )
        readings.append(reading)
        key = (record.kind, record.placement, record.policy, record.send_bytes, record.receive_bytes)
        groups[key].append((reading, ordered))
    names = {p.id: p.name for p in plan.placements}
    return tuple(readings), tuple(_floor(names, members) for members in groups.values())


def _floor(names: Mapping[str, str], members: list[tuple[BaselineReading, Nanoseconds]]) -> FloorSummary:
    readings = sorted((reading for reading, _ in members), key=lambda reading: reading.record.started_wall_ns)
    known = [(r.record.started_wall_ns, r.median_ns / st.NS_PER_MS) for r in readings if r.median_ns is not None]
    first = readings[0].record
    pooled = st.merged([ordered for _, ordered in members])
    distribution: Distribution | None = st.distribution(pooled) if pooled.size else None
    return FloorSummary(
        kind=first.kind,
        placement=names.get(first.placement, first.placement),
        placement_id=first.placement,
        method=first.method,
        distribution=distribution,
        lost=sum(reading.lost for reading in readings),
        policy=first.policy,
        send_bytes=first.send_bytes,
        receive_bytes=first.receive_bytes,
        cells=tuple(sorted({cell for reading in readings for cell in reading.record.cells})),
        medians=tuple(median for _, median in known),
        started_wall_ns=tuple(at_ns for at_ns, _ in known),
    )


class StripMaker:
    """Puts the trials of a cell one after the other; time runs within them only."""

    def __init__(self, bins_per_trial: int) -> None:
        self._bins_per_trial = bins_per_trial
        self._bins: list[tuple[float, int, float, float, float]] = []
        self._slowest: list[tuple[float, float]] = []
        self._start_s = 0.0

    def add(self, trial: int, parts: list[Samples]) -> None:
        """Append a trial; of several hosts, whose clocks differ, the first one is drawn."""
        if not parts or not parts[0].latency_ns.size:
            return
        sent, latency = parts[0].sent_ns[parts[0].ok], parts[0].latency_ns
        start = self._start_s
        for at_s, low, middle, high in st.time_bins(sent, latency, self._bins_per_trial):
            self._bins.append((start + at_s, trial, low, middle, high))
        self._slowest += [(start + s, ms) for s, ms in st.slowest(sent, latency)]
        self._slowest = sorted(self._slowest, key=lambda point: point[1])[-st.SLOWEST :]
        self._start_s += parts[0].span_ns / 1e9

    def strip(self) -> Strip | None:
        """What was added, or None."""
        return Strip(bins=tuple(self._bins), slowest=tuple(sorted(self._slowest))) if self._bins else None


# ---- the values of a trial beside its latencies and rate, from what both ends counted (`findings.trial_values`)


def values(record: TrialRecord, ordered: Nanoseconds, failed: int, first_ms: float | None) -> dict[str, float]:
    """Return all that is known, by name.

    `ordered` are the trial's latencies (ns), `failed` more requests had no right reply, `first_ms` is the first request of
    a connection.
    """
    every = {**_costs(record), **_openings(record), **spreads(ordered, failed, first_ms), FIRST_REQUEST: first_ms}
    return {name: value for name, value in every.items() if value is not None}


def spreads(ordered: Nanoseconds, failed: int = 0, first_ms: float | None = None) -> dict[str, float | None]:
    """Return how far latencies lie apart, by name; None where failed requests or too few of them leave it unknown.

    Any failed request leaves no SD, one among the slowest quarter no IQR, and one among the slowest hundredth no p99.
    """
    median, high, p99 = (st.finite(st.supported_quantile(ordered, share, failed)) for share in (0.5, 0.75, 0.99))
    return {
        # About the minimum, as in `quantiles.distribution`.
        "sd": None if failed or ordered.size < st.SUPPORT else float((ordered - ordered[0]).std(ddof=1)) / st.NS_PER_MS,
        "iqr": None if high is None else high - st.quantile(ordered, 0.25, failed) / st.NS_PER_MS,
        "p99_to_p50": p99 / median if p99 is not None and median else None,
        FIRST: first_ms / median if first_ms is not None and median else None,
    }


def _costs(record: TrialRecord) -> dict[str, float | None]:
    """What a trial took: sums over its requesters; of memory the largest host's, all its processes together."""
    ends = [requester.done for requester in record.requesters]
    samples = sum(done.events.delivered if done.events else done.requests for done in ends)
    if not samples:
        return {}
    stats = record.stats if record.stats_warm else None  # a peak that begins with the trial's requests is of no phase
    counted = {
        "responder_cpu": record.responder_measured_cpu_s,
        "requester_cpu": total([done.cpu_s for done in ends]),
        **{
            f"{name}_{way}": total([getattr(done.wire, f"{counter}_{way}", None) for done in ends])
            for name, counter in (("wire_bytes", "bytes"), ("packets", "segments"))
            for way in ("sent", "received")
        },
    }
    each = {name: None if total is None else total * PER / samples for name, total in counted.items()}
    both = {name: total([each[f"{name}_{way}"] for way in ("sent", "received")]) for name in ("wire_bytes", "packets")}
    memory = {"responder_memory": stats.memory_bytes if stats else None, "requester_memory": _largest_host(record)}
    return {**each, **both, **memory}


def _openings(record: TrialRecord) -> dict[str, float | None]:
    """The mean over requesters of the median times of TCP and TLS handshakes, ms, where the client library tells them."""
    openings = [requester.done.opening for requester in record.requesters if requester.done.opening is not None]
    return {
        "connect": _mean_ms([each.connect_s for each in openings]),
        "tls": _mean_ms([each.tls_s for each in openings]),
    }


def _mean_ms(seconds: Sequence[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return 1e3 * sum(known) / len(known) if known else None


N = TypeVar("N", int, float)


def total(counts: Sequence[N | None]) -> N | None:
    """Return the sum; None when some are unknown."""
    known = [value for value in counts if value is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _largest_host(record: TrialRecord) -> int | None:
    """The largest sum of the peaks of a host's processes, bytes; None when some are unknown."""
    hosts: dict[str, int] = {}
    for requester in record.requesters:
        if requester.done.memory_bytes is None:
            return None
        hosts[requester.host] = hosts.get(requester.host, 0) + requester.done.memory_bytes
    return max(hosts.values(), default=None)


# ---- the responder's workers, by their own count


def cpu_share(record: TrialRecord, span_ns: int) -> float | None:
    """Its CPU time over the time in which requests were made: no more than all of it where that was short.

    Of several workers that of the busiest, which is its own limit from one core's worth on; or those of each CPU, where
    there are fewer CPUs than workers and all of them together are busier than that. Whatever each says of itself, the
    busiest used no less than an even share of what all did. What was done outside of that time (two connections of their
    own, and their checks) counts, too: up to some 70 ms. None where it does not say.
    """
    cpu_s, stats = record.responder_cpu_s, record.stats
    if cpu_s is None or span_ns <= 0:
        return None
    if stats and stats.workers and record.stats_before and record.stats_before.workers:
        own = [
            after.cpu_s - before.cpu_s
            for before, after in zip(record.stats_before.workers, stats.workers, strict=False)
            if before.cpu_s is not None and after.cpu_s is not None
        ]
        workers, cpus = len(stats.workers), record.ready.cpus if record.ready is not None else None
        cpu_s = max([*own, cpu_s / min(workers, cpus or workers)])
    share = cpu_s * 1e9 / span_ns
    return min(share, 1.0) if span_ns < SHORT_WINDOW_S * 1e9 else share
