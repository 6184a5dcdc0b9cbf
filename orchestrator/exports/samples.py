"""A row for each sample of a run: the columns of its samples files, and what tells runs and cells apart.

The rows are those that the run's figures are made of: of each block its last attempt, of trials that did not fail. A file is
verified as it is read, and one is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.errors import UsageError
from orchestrator.evidence.collect import is_one_machine
from orchestrator.evidence.joined_turns import joined
from orchestrator.evidence.searched import expanded
from orchestrator.evidence.stream_samples import StreamSamples
from orchestrator.experiment.model.factors import FACTORS
from orchestrator.experiment.plan.plan import Cell, Plan
from orchestrator.exports.cell_columns import BETWEEN, CELL, FAILED, RTT, RUN, VALID, distances_of
from orchestrator.exports.typed_table import Column, Type, Value, of_factor, schema
from orchestrator.findings.summary import RunSummary
from orchestrator.findings.validity import failed_in
from orchestrator.record_layout import COLUMNS as RECORDED
from orchestrator.results.convert import Constants, constants
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import SAMPLE_COLUMNS, Manifest
from orchestrator.results.rows import OK, sample_number

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

Arrays = Mapping[str, "npt.NDArray[Any]"]

_OF_SAMPLES: Mapping[str, tuple[Type, str, str]] = {
    "sequence": ("whole", "", "1, 2, 3, ... in the order of sending; of a part its place in its sample"),
    "phase": ("whole", "", "0 warm-up, 1 measured"),
    "connection": ("whole", "", "which connection carried it, from 0; -1 if there was none"),
    "intended_ns": ("whole", "ns", "when it should have been sent, by the requester's monotonic clock"),
    "sent_ns": ("whole", "ns", "immediately before the client's call, by the same clock"),
    "received_ns": ("whole", "ns", "when the reply was decoded, or was known to have failed"),
    "service_ns": ("whole", "ns", "the responder's own handling time where the reply carries it, else -1"),
    "bytes_sent": ("whole", "B", "bytes of the request's body, -1 if unknown"),
    "bytes_received": ("whole", "B", "bytes of the reply's body, -1 if unknown"),
    "status": ("whole", "", "0 ok; otherwise an index of protos/statuses.json"),
    "kind": ("whole", "", "0 request, 1 task, 2 part, 3 event, 4 codec, 6 mixed"),
    "parent": ("whole", "", "the sequence of the row that this one belongs to; 0 for none"),
    "sender_ns": ("whole", "ns", "the stamp that the other end put into its message; 0 where sender_clock is 0"),
    "sender_clock": ("whole", "", "which clock that is of (protos/timings.md)"),
    "stack": ("text", "", "id of the stack"),
    "operation": ("text", "", "id of the operation; of a mix the label of each request's own"),
    "placement": ("text", "", "id of the placement"),
    "block": ("whole", "", "the block of the trial, from 0"),
    "requester": ("text", "", "the host of the requester"),
    "process": ("whole", "", "number of the requester's process on that host, from 0"),
}


def _columns() -> Iterator[Column]:
    by_column = {factor.column: factor for factor in FACTORS if factor.column}
    for name in SAMPLE_COLUMNS:
        if name in by_column:
            yield of_factor(by_column[name], name)
        else:
            kind, unit, meaning = _OF_SAMPLES[name]
            yield Column(name=name, type=kind, unit=unit, meaning=meaning)


TRIAL = Column(name="trial", type="whole", meaning="number of the trial in the run's schedule, from 0")
LATENCY = Column(
    name="latency_ms",
    type="number",
    unit="ms",
    meaning="latency of a right sample, as the report counts it: of an event its delivery, or over a distance the gap"
    " since the event before it; empty for every other row",
)
COLUMNS: tuple[Column, ...] = (RUN, CELL, TRIAL, VALID, FAILED, RTT, LATENCY, *_columns())
"""The columns of a row for each sample, in this order; the same for every run."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """The rows of one samples file, `COLUMNS` in their order."""

    cell: str
    protocol: str
    table: pa.Table


def pieces(folder: RunFolder, summary: RunSummary) -> Iterator[Piece]:
    """The run's samples file by file, in the order of its trials.

    UsageError when the run is still in progress; InvalidMeasurement names a file that is damaged.
    """
    plan, manifest = _judged(folder)
    of_files = constants(folder.journal_state(), folder.plan())
    cells = {cell.id: cell for cell in plan.cells}
    distances = distances_of(summary)
    clocks = {placement.id: is_one_machine(plan, placement) for placement in plan.placements}
    for trial in manifest.trials:
        cell = cells[trial.cell]
        failed = failed_in(cell.id, summary.checks)
        of_trial: dict[str, Value] = {
            "run": summary.run.id,
            "cell": cell.id,
            "trial": trial.index,
            "valid": not failed,
            "failed_checks": BETWEEN.join(failed),
            "emulated_rtt_ms": distances.get(cell.placement, {}).get("emulated_rtt_ms"),
        }
        for part in trial.requesters if trial.outcome == "ok" else ():
            if not part.samples:
                continue
            of_file = of_files[part.samples]
            recorded = folder.samples(part.samples, RECORDED)
            if trial.turns:  # stamps stay as they are; disturbed turns are warm-up
                recorded["phase"] = joined(recorded, trial)["phase"]
            if cell.kind == "stream":
                latency = _of_events_ms(recorded, cell, is_one_clock=clocks[cell.placement])
            else:
                latency = _latency_ms(recorded, of_file, is_open_loop=cell.load.rate_per_s is not None)
            table = _table(recorded, latency, {**of_file.by_column(), **of_trial}, of_file.mixed)
            yield Piece(cell=cell.id, protocol=str(cell.factors["protocol"]), table=table)


def _judged(folder: RunFolder) -> tuple[Plan, Manifest]:
    manifest = folder.manifest()
    if manifest.state == "running":
        raise UsageError(f"run {manifest.run_id} is still in progress", hint="wait until it has ended")
    return expanded(manifest)


def _latency_ms(recorded: Arrays, shared: Constants, *, is_open_loop: bool) -> pa.Array:
    """See `LATENCY`: in an open loop from when a request was due, in a closed one from when it was sent."""
    import pyarrow as pa

    begun = recorded["intended_ns" if is_open_loop else "sent_ns"]
    is_other = (recorded["status"] != OK) | (recorded["kind"] != sample_number(shared.kind))
    return pa.array((recorded["received_ns"] - begun) / 1e6, type=pa.float64(), mask=is_other)


def _of_events_ms(recorded: Arrays, cell: Cell, *, is_one_clock: bool) -> pa.Array:
    """See `LATENCY`: of right events of the measured phase, each sequence number of a subscription once."""
    import pyarrow as pa

    stream = StreamSamples(recorded, cell, is_one_clock=is_one_clock)
    latency = np.full(recorded["sequence"].size, np.nan)
    latency[stream.timed_rows] = (recorded["received_ns"][stream.timed_rows] - stream.timed_from_ns) / 1e6
    return pa.array(latency, type=pa.float64(), mask=np.isnan(latency))


def _table(recorded: Arrays, latency: pa.Array, constant: Mapping[str, Value], mixed: tuple[str, ...]) -> pa.Table:
    import pyarrow as pa

    rows = recorded["sequence"].size
    arrays = []
    for column in COLUMNS:
        if column.name == "latency_ms":
            arrays.append(latency)
        elif column.name in recorded:
            arrays.append(pa.array(recorded[column.name].astype(np.int64, copy=False)))
        elif column.name == "operation" and mixed:
            places = pa.array((recorded["parent"] - 1).astype(np.int32))
            arrays.append(pa.DictionaryArray.from_arrays(places, pa.array(mixed, pa.string())))
        else:
            arrays.append(_repeated(column, column.fitting(constant.get(column.name)), rows))
    return pa.Table.from_arrays(arrays, schema=schema(COLUMNS, has_dictionaries=True))


def _repeated(column: Column, value: Value, rows: int) -> pa.Array:
    import pyarrow as pa

    if column.type == "text":
        indices = pa.array(np.zeros(rows, dtype=np.int32), mask=None if value is not None else np.ones(rows, bool))
        return pa.DictionaryArray.from_arrays(indices, pa.array(["" if value is None else value], pa.string()))
    if value is None:
        return pa.nulls(rows, column.arrow_type())
    return pa.repeat(pa.scalar(value, type=column.arrow_type()), rows)
