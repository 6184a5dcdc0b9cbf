"""A raw timing record (protos/timings.md) becomes one Parquet file, whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.errors import InvalidMeasurement
from orchestrator.experiment.model.factor import Value, Values
from orchestrator.experiment.model.factors import in_columns
from orchestrator.experiment.plan.loads import at_step
from orchestrator.experiment.plan.plan import Plan
from orchestrator.record_layout import COLUMNS
from orchestrator.results import derive
from orchestrator.results.documents import digest, inside, whole_file
from orchestrator.results.journal import Journal
from orchestrator.results.manifest import SAMPLE_COLUMNS, BaselineRecord, TrialRecord
from orchestrator.results.records import STAGING, raw_path, written
from services.python.contract.limits import Recorded

ROW = np.dtype("<i8")
_RECEIVED = SAMPLE_COLUMNS.index("received_ns")
_OWN = len(COLUMNS)  # of the columns of samples, the first that a record does not have


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What is the same in every row of a file, and makes the folder one tidy table. Ids are the plan's."""

    stack: str
    operation: str
    placement: str
    factors: Values  # those that have a column; what is left out has its default
    block: int
    requester: str
    process: int = 0  # its number on that host
    kind: Recorded = "call"  # what is recorded, and below in how many parts: what rows there may be, and no column
    parts: int | None = None
    at_once: bool = False
    mixed: tuple[str, ...] = ()  # what the operations of a mix are called, by their places

    def by_column(self) -> dict[str, Value]:
        """The value of each column."""
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name in SAMPLE_COLUMNS[_OWN:]}
        return {**own, **in_columns(self.factors)}


def read_record(
    path: Path, *, kind: Recorded | None = "call", parts: int | None = None, at_once: bool = False
) -> npt.NDArray[np.int64]:
    """The written rows of a raw record as (n, 14) int64, columns as `record_layout`; errors as `records.written`."""
    content = b"".join(written(path, kind=kind, parts=parts, at_once=at_once))
    return np.frombuffer(content, dtype=ROW).reshape(-1, len(COLUMNS))


def to_parquet(record: Path, target: Path, constants: Constants, *, staging: Path) -> str:
    """Write `target` from a raw record by way of `staging`, in the order in which replies came; the file's SHA-256.

    Stamps are nearly equidistant, so delta encoding with zstd takes a fifth of the record's bytes. InvalidMeasurement
    when the record holds no row, or is refused by `records.written`; MissingError when the disk is full.
    """
    rows = read_record(record, kind=constants.kind, parts=constants.parts, at_once=constants.at_once)
    if not len(rows):
        raise InvalidMeasurement(
            f"{record}: the timing record is empty",
            hint="the trial's last words are under logs/; `orch run --resume` repeats what was interrupted",
        )
    rows = rows[np.argsort(rows[:, _RECEIVED], kind="stable")]
    with whole_file(target, staging=staging) as partial:
        with partial.open("wb") as file:  # a path of ours: pyarrow takes none that is not UTF-8
            pq.write_table(
                _table(rows, constants),
                file,
                compression="zstd",
                use_dictionary=list(SAMPLE_COLUMNS[_OWN:]),
                column_encoding=dict.fromkeys(COLUMNS, "DELTA_BINARY_PACKED"),
            )
        return digest(partial)


def convert_waiting(folder: Path, journal: Journal, journal_state: derive.JournalState, plan: Plan) -> None:
    """See `RunFolder.convert`."""
    for samples, shared in constants(journal_state, plan).items():
        if samples in journal_state.files:
            continue
        raw = raw_path(folder, samples)
        if raw.exists():
            sha256 = to_parquet(raw, inside(folder, samples), shared, staging=folder / STAGING)
            journal.append({"event": "file", "path": samples, "sha256": sha256})
            raw.unlink()
        else:
            journal.append({"event": "warning", "text": f"the raw record of {samples} is lost"})


def _table(rows: npt.NDArray[np.int64], constants: Constants) -> pa.Table:
    columns = {name: pa.array(rows[:, place]) for place, name in enumerate(COLUMNS)}
    zeros = pa.array(np.zeros(len(rows), dtype=np.int32))
    for name, value in constants.by_column().items():
        columns[name] = (
            pa.DictionaryArray.from_arrays(zeros, pa.array([value]))
            if isinstance(value, str)
            else pa.array(np.full(len(rows), value, dtype=np.int64))
        )
    if constants.mixed:  # each row is of one of them
        places = pa.array((rows[:, COLUMNS.index("parent")] - 1).astype(np.int32))
        columns["operation"] = pa.DictionaryArray.from_arrays(places, pa.array(constants.mixed))
    return pa.table({name: columns[name] for name in SAMPLE_COLUMNS})


def constants(journal_state: derive.JournalState, plan: Plan) -> dict[str, Constants]:
    """What is constant in each file of samples that counts, by its path."""
    by_path: dict[str, Constants] = {}
    for trial in journal_state.trials:
        by_path |= _of_trial(trial, plan)
    for baseline in journal_state.baselines:
        by_path[baseline.samples] = _of_baseline(baseline)
    return by_path


def _of_trial(trial: TrialRecord, plan: Plan) -> dict[str, Constants]:
    cell = next(cell for cell in plan.cells if cell.id == trial.cell)
    if trial.probe is not None:
        cell = at_step(cell, trial.probe.step)
    return {
        part.samples: Constants(
            stack=cell.stack,
            operation=cell.operation,
            placement=cell.placement,
            factors=cell.factors,
            block=trial.block,
            requester=part.host,
            process=part.process,
            kind=cell.recorded,
            parts=cell.parts,
            at_once=cell.is_at_once,
            mixed=tuple(m.label for o in plan.operations if o.id == cell.operation for m in o.mix),
        )
        for part in trial.requesters
        if part.samples
    }


def _of_baseline(baseline: BaselineRecord) -> Constants:
    return Constants(
        stack=baseline.kind,
        operation="exchange" if baseline.kind == "tcp" else "ping",
        placement=baseline.placement,
        factors={"connection": baseline.policy, "concurrency": 1},
        block=baseline.block,
        requester=baseline.requester,
    )
