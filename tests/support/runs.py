"""Synthetic runs whose truth is known: clean ones, and ones in which a test commits exactly one error.

`a_run(...)` gives a `MemoryRun`, which analysis reads as it reads a folder; `write_run` puts the same run on disk. A
test spoils it with `spoil=`, a function that changes each trial's `Draft` after it was made.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.errors import InvalidMeasurement
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import requesters_of, values
from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.cells import cell_id, processes_of, share_of
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.record_layout import COLUMNS as RECORDED
from orchestrator.results.documents import digest as sha256_of
from orchestrator.results.documents import write_json
from orchestrator.results.folder import RunFolder
from orchestrator.results.journal import Journal
from orchestrator.results.manifest import SAMPLE_COLUMNS, BaselineRecord, Manifest, RequesterRecord, TrialRecord
from orchestrator.shapes import decode
from services.python.contract.description import Description
from services.python.contract.lines import VERSION
from services.python.contract.offers import find_protocol
from services.python.contract.requester_lines import Done
from services.python.contract.responder_lines import Ready, Stats
from tests.support.drafts import TASK, Draft, heard_of, mixed_columns, rows_of, slower_by_place
from tests.support.floor_readings import MS, START_NS, US, S, look
from tests.support.lines import BOOT_NS, as_line, host_counters, stats_lines
from tests.support.shapes import Shape, narrow, paused_s, stamps

Spoil = Callable[[Draft], None]


@dataclass
class MemoryRun:
    """A run folder that was never written."""

    stored: Manifest
    files: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    path: Path = Path("results/synthetic")

    def manifest(self) -> Manifest:
        return self.stored

    def manifest_bytes(self) -> bytes:
        raise InvalidMeasurement("it was never written")

    def samples(self, relative_path: str, columns: Sequence[str]) -> dict[str, np.ndarray]:
        if relative_path not in self.files:
            raise InvalidMeasurement(f"{relative_path}: the file is missing")
        return {name: self.files[relative_path][name] for name in columns}


def a_plan(
    *,
    stacks: Sequence[str] = ("rest", "grpc"),
    controls: int = 0,
    blocks: int = 5,
    load: p.Load | None = None,
    warmup: int = 50,
    connection: str = "reuse",
    calls: Sequence[dict[str, Value]] = (),
    contrasts: Sequence[p.Contrast] = (p.Contrast(),),
    placements: Sequence[p.Placement] | None = None,
    operation: p.Operation | None = None,
    clients: Sequence[str] = (),
    requesters: int = 1,
    fixed: int = 0,
    seed: int = 1,
    task: int = 1,
) -> p.Plan:
    """A plan of every stack in every placement; the first is the reference, entered `controls` times more. Requests are
    made with `connection`, or in each of the ways of `calls`; a `task` has so many of them, one after the other.

    Orders are balanced, but for the first `fixed` blocks, in which stacks stand as they are listed.
    """
    made = [
        p.Stack(id=f"{name}-{client}", protocol=name, responder="plain", client=client, label=f"{name} ({client})")
        for name, client in zip(stacks, clients or ["thin"] * len(stacks), strict=True)
    ]
    made += [
        replace(made[0], id=f"{made[0].id}-aa{i}", label=f"{made[0].label} again", control_of=made[0].id)
        for i in range(controls)
    ]
    placements = placements or [p.Placement(id="local", name="local", kind="local")]
    operation = (operation or p.Operation(id="add", name="add", label="add", request_bytes=8, reply_bytes=8)).in_task(
        task
    )
    load = load or p.Load(concurrency=requesters, requests=1000 * requesters)
    ways = [{"requesters": requesters, **way} for way in calls or [{"connection": connection}]]
    cells = tuple(
        p.Cell(
            id=cell_id(
                stack=stack.id,
                operation=operation.id,
                placement=placement.id,
                values=(of_cell := values(stack=stack, operation=operation, placement=placement, load=load, call=call)),
                load=load,
            ),
            stack=stack.id,
            operation=operation.id,
            placement=placement.id,
            factors=of_cell,
            load=load,
            warmup=p.Warmup(requests=warmup, at_least_s=0.0),
            kind=p.kind_of(operation, of_cell),
            mixed=len(operation.mix),
        )
        for placement in placements
        for stack in made
        for call in ways
    )
    number = {cell.id: place for place, cell in enumerate(cells)}
    order = [replace(t, seed=t.block * len(cells) + number[t.cell]) for t in schedule(cells, blocks, seed)]
    listed = sorted((t for t in order if t.block < fixed), key=lambda t: t.seed)
    order = [replace(t, index=i) for i, t in enumerate([*listed, *order[len(listed) :]])]
    return p.Plan(
        name="synthetic",
        question="Which one is quicker?",
        provider="local",
        machine=None,
        pin="apart",
        stacks=tuple(made),
        operations=(operation,),
        placements=tuple(placements),
        cells=cells,
        trials=tuple(order),
        repeats=blocks,
        seed=seed,
        limits=p.Limits(wall_s=600, cost_usd=0, ttl_s=3600),
        contrasts=tuple(contrasts),
    )


def a_run(
    plan: p.Plan | None = None,
    *,
    base_us: dict[str, float] | None = None,
    effects: dict[str, float] | None = None,
    between: float = 0.01,
    spoil: Spoil | None = None,
    shape: Shape = narrow,
    baselines: bool = True,
    seed: int = 1,
    **planned: Any,
) -> MemoryRun:
    """A clean run, but for what `spoil` does; `base_us` is each protocol's median beyond the network's round trip,
    `effects` how many times as long requests take with a factor's value (`gzip`, or one protocol's: `rest gzip`),
    `between` is the SD of the trials' and the blocks' effects, as a share. Distances come from the placements' links.
    """
    plan = plan or a_plan(**planned)
    rng = np.random.default_rng(seed)
    base_us = {"rest": 300.0, "grpc": 200.0, **(base_us or {})}
    stacks = {s.id: s for s in plan.stacks}
    operations = {o.id: o for o in plan.operations}
    cells = {c.id: c for c in plan.cells}
    distances = {x.id: (x.link.rtt_ms or 0.0) * MS for x in plan.placements}
    drifts = rng.normal(0, between, size=plan.repeats)
    trials, files, readings = [], {}, []
    place = {cell.id: number for number, cell in enumerate(plan.cells)}
    for planned_trial in sorted(plan.trials, key=lambda t: (t.block, place[t.cell])):  # drawn so, made in their order
        clock = BOOT_NS + planned_trial.index * 30 * S
        cell = cells[planned_trial.cell]
        protocol = stacks[cell.stack].protocol
        effect = float(np.exp(drifts[planned_trial.block] + rng.normal(0, between)))
        named = [name for value in cell.factors.values() for name in (str(value), f"{protocol} {value}")]
        effect *= prod((effects or {}).get(name, 1.0) for name in named)
        drafts = []
        hosts, processes = requesters_of(cell.factors), processes_of(cell.factors)
        for number, (host, process) in enumerate(product(range(hosts), range(processes))):
            draft = _draft(
                rng,
                replace(cell, load=share_of(cell.factors, cell.load, host, process)),
                operations[cell.operation],
                planned_trial.block,
                base_us.get(protocol, 250.0) * US * effect,
                distances[cell.placement],
                find_protocol(protocol).round_trips_to_open + cell.handshakes,
                clock,
                shape,
                planned_trial.seed + number,
            )
            draft.requester, draft.process = host, process
            draft.heard = heard_of(draft) if hosts > 1 else None
            if spoil:
                spoil(draft)
            drafts.append(draft)
        paths = [
            f"samples/cell={cell.id}/{planned_trial.index:05d}{f'-r{number}' if number else ''}.parquet"
            for number in range(len(drafts))
        ]
        files |= {path: rows_of(draft) for path, draft in zip(paths, drafts, strict=True)}
        trials.append(_trial_record(planned_trial, drafts, paths))
    if baselines:
        for block in range(plan.repeats):
            for placement in plan.placements:
                beside = tuple(c.id for c in plan.cells if c.placement == placement.id)
                for moment in ("before", "after"):
                    for kind in ("ping", "tcp"):
                        reading, columns = look(rng, kind, placement.id, block, moment, distances[placement.id], beside)
                        files[reading.samples] = columns
                        readings.append(reading)
    trials.sort(key=lambda trial: trial.index)
    return MemoryRun(stored=_manifest(plan, trials, readings), files=files)


def _draft(
    rng: np.random.Generator,
    cell: p.Cell,
    operation: p.Operation,
    block: int,
    base_ns: float,
    rtt_ns: float,
    round_trips_to_open: int,
    start_ns: int,
    shape: Shape,
    seed: int,
) -> Draft:
    warm = cell.warmup.requests
    rows = warm + (cell.load.requests or 1000)
    trips = cell.in_a_row + (round_trips_to_open if cell.connection == "per-request" else 0)
    own_ns = shape(rng, rows * cell.in_a_row, base_ns, rtt_ns).reshape(rows, cell.in_a_row).sum(axis=1)
    own_ns = own_ns * slower_by_place(operation, rows, seed)
    latency = (rtt_ns * trips + own_ns).astype(np.int64)
    latency += rng.integers(0, 999, size=rows)
    if cell.connection == "reuse":
        latency[0] += rtt_ns + base_ns
    intended, sent, worker, paused = stamps(rng, cell, latency, start_ns, seed)
    received = sent + latency
    order = np.argsort(received, kind="stable")
    columns = {
        "sequence": np.arange(1, rows + 1),
        "phase": (np.arange(rows) >= warm).astype(np.int64),
        "connection": np.arange(rows) if cell.connection == "per-request" else worker,
        "intended_ns": intended,
        "sent_ns": sent,
        "received_ns": received,
        "service_ns": np.full(rows, -1),
        "bytes_sent": np.full(rows, cell.calls * (operation.request_bytes + 20)),
        "bytes_received": np.full(rows, cell.calls * (operation.reply_bytes + 20)),
        "status": np.zeros(rows, dtype=np.int64),
        "kind": np.full(rows, TASK if cell.kind == "task" else 0),
        "parent": np.zeros(rows),
    }
    columns |= mixed_columns(cell, operation, columns, seed)
    columns, asked = {k: values[order].astype(np.int64) for k, values in columns.items()}, max(1, len(operation.mix))
    peers = (
        1
        + asked
        + cell.connections_each * (rows if cell.connection == "per-request" else cell.load.concurrency * asked)
    )
    took_s = float(received.max() - sent.min()) / S
    warmed_s = float(columns["sent_ns"][columns["phase"] == 1].min() - sent.min()) / S
    return Draft(
        cell=cell,
        block=block,
        columns=columns,
        done=_done(cell, columns, rtt_ns) | ({} if paused is None else {"paused_s": paused}),
        ready={"type": "ready", "contract": VERSION, "port": 4000, "implementation": "plain", "identity": "nonce"},
        **stats_lines(
            rows * cell.calls, warm * cell.calls, peers, 1 + asked, took_s=took_s, warmed_s=warmed_s, block=block
        ),
    )


def _done(cell: p.Cell, columns: dict[str, np.ndarray], rtt_ns: float) -> dict[str, Any]:
    measured = columns["phase"] == 1
    first, last = int(columns["sent_ns"][measured].min()), int(columns["received_ns"].max())
    n = int(measured.sum())
    span_s = (last - first) / S
    begin, end = int(columns["sent_ns"].min()) - MS, last + MS
    sent, received = int(columns["bytes_sent"][measured].sum()), int(columns["bytes_received"][measured].sum())
    return {
        "type": "done",
        "contract": VERSION,
        "rows": int(measured.size) * (1 if cell.kind == "call" else 1 + cell.calls),
        "warmup_requests": int((~measured).sum()),
        "requests": n,
        "measured_s": span_s,
        "begin_ns": int(columns["intended_ns"][measured].min()),
        "errors": {},
        "error_examples": {},
        "identity": "nonce",
        "verified": n,
        "body_bytes_sent": sent,
        "body_bytes_received": received,
        "wire": {
            "bytes_sent": sent + 60 * n,
            "bytes_received": received + 60 * n,
            "segments_sent": n,
            "segments_received": n,
            "retransmits": 0,
        },
        "min_rtt_us": (rtt_ns + 15 * US) / 1000,
        "connections_opened": n if cell.connection == "per-request" else 0,
        "paused_s": paused_s(columns, measured, cell.load.concurrency) if cell.load.rate_per_s is None else 0.0,
        "entering_s": span_s * 0.01,
        "cpu_s": span_s * 0.3,
        "cpu_share": 0.3,
        "memory_bytes": 30_000_000,
        "memory_since": "phase",
        "loop_lag_ms": None,
        "anchor": {"wall_ns": START_NS + begin, "monotonic_ns": begin},
        "anchor_end": {"wall_ns": START_NS + end, "monotonic_ns": end},
        "clock_resolution_ns": 1.0,
        "client": "thin",
        "versions": {"thin": "1.0"},
        "settings": {},
        "host_before": host_counters(0, busy=0, cgroup_s=0.0),
        "host_after": host_counters(int(span_s * S), busy=int(span_s * 40), cgroup_s=100.0),
    }


def _trial_record(planned: p.PlannedTrial, drafts: list[Draft], paths: list[str]) -> TrialRecord:
    draft = drafts[0]
    counts = {name: sum(d.stats[name] for d in drafts) for name in ("answered", "peers")}
    warm = {name: sum(d.stats_warm[name] for d in drafts) for name in ("answered", "peers")}
    return TrialRecord(
        index=planned.index,
        block=planned.block,
        cell=planned.cell,
        attempt=0,
        outcome="ok",
        started_wall_ns=START_NS + planned.index * 30 * S,
        ended_wall_ns=START_NS + planned.index * 30 * S + 20 * S,
        overhead_s=0.7,
        ready=as_line(Ready, draft.ready),
        stats=as_line(Stats, draft.stats | counts if len(drafts) > 1 else draft.stats),
        stats_before=as_line(Stats, draft.stats_before),
        stats_warm=as_line(Stats, draft.stats_warm | warm if len(drafts) > 1 else draft.stats_warm),
        requesters=tuple(
            RequesterRecord(
                host="localhost" if not d.requester else f"requester-{d.requester}",
                done=as_line(Done, d.done),
                samples=path,
                process=d.process,
                heard=d.heard,
            )
            for d, path in zip(drafts, paths, strict=True)
        ),
        **draft.record,
    )


def _manifest(plan: p.Plan, trials: list[TrialRecord], readings: list[BaselineRecord]) -> Manifest:
    return Manifest(
        run_id="20231114-synthetic",
        plan_id=plan.id,
        plan=decode(p.Plan, plan.to_dict()),
        orch_version="0.1.0",
        state="complete",
        started_at="2023-11-14T22:13:20Z",
        ended_at="2023-11-14T22:23:20Z",
        fleet={"provider": plan.provider},
        hosts={"localhost": Description(cpu="Synthetic 3000", kernel="6.1")},
        trials=tuple(trials),
        baselines=tuple(readings),
        files={},
    )


def write_run(run: MemoryRun, folder: Path) -> Path:
    """The run as a folder on disk, digests and all."""
    digests = {}
    for relative, columns in run.files.items():
        target = folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        absent = {name: np.zeros(columns["sequence"].size, dtype=np.int64) for name in RECORDED if name not in columns}
        every = {**columns, **absent}
        content, digests[relative] = _parquet({k: every[k] for k in SAMPLE_COLUMNS if k in every})
        target.write_bytes(content)
    write_documents(replace(run.stored, files=digests, run_id=folder.name), folder)
    return folder


_WRITTEN: dict[str, tuple[bytes, str]] = {}  # as many tests write the same few runs
_MOST_WRITTEN = 500


def _parquet(columns: dict[str, np.ndarray]) -> tuple[bytes, str]:
    """A samples file of these columns, and its SHA-256."""
    key = hashlib.sha256()
    for name, column in columns.items():
        key.update(f"{name} {column.dtype} {column.shape} ".encode() + np.ascontiguousarray(column).data)
    found = _WRITTEN.get(key.hexdigest())
    if found is None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = io.BytesIO()
        pq.write_table(pa.table(columns), file, compression="zstd")
        found = file.getvalue(), hashlib.sha256(file.getvalue()).hexdigest()
        if len(_WRITTEN) < _MOST_WRITTEN:
            _WRITTEN[key.hexdigest()] = found
    return found


def write_documents(stored: Manifest, folder: Path) -> None:
    """Plan, journal and manifest of a run that was made here."""
    write_json(folder / "plan.json", stored.plan.to_dict())
    journal = Journal(folder / "journal.jsonl")
    journal.append(
        {
            "event": "begin",
            "run_id": stored.run_id,
            "plan_id": stored.plan_id,
            "orch_version": stored.orch_version,
            "command": ["orch", "run"],
            "at": stored.started_at,
            "files": {"plan.json": sha256_of(folder / "plan.json")},
        },
        sync=False,
    )
    fleet = {"event": "fleet", "fleet": stored.fleet, "hosts": {name: asdict(of) for name, of in stored.hosts.items()}}
    programs = {name: asdict(of) for name, of in stored.programs.items()}
    journal.append({**fleet, **({"programs": programs} if programs else {})}, sync=False)
    events: list[dict[str, Any]] = []
    if stored.referee is not None:
        events += [{"event": "referee", "referee": asdict(stored.referee)}]
    events += [{"event": "turn", "turn": asdict(turn)} for turn in stored.turns]
    events += [{"event": "trial", "trial": asdict(trial)} for trial in stored.trials]
    events += [{"event": "baseline", "attempt": 0, "baseline": asdict(baseline)} for baseline in stored.baselines]
    events += [{"event": "file", "path": path, "sha256": digest} for path, digest in stored.files.items()]
    events += [{"event": "warning", "text": text} for text in stored.warnings]
    for event in [*events, {"event": "end", "state": stored.state, "at": stored.ended_at}]:
        journal.append(event, sync=False)
    RunFolder(folder).write_manifest()
