"""A raw timing record (protos/timings.md) becomes one Parquet file, whole or not at all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.errors import InvalidMeasurement
from orchestrator.experiment.plan.plan import Plan
from orchestrator.results import derive
from orchestrator.results.documents import sha256_of, whole_file
from orchestrator.results.manifest import SAMPLE_COLUMNS, BaselineRecord, TrialRecord

ROW = np.dtype("<i8")
RAW_COLUMNS = 10
_STAMPS = SAMPLE_COLUMNS[:RAW_COLUMNS]


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What is the same in every row of a file, and makes the folder one tidy table. Ids are the plan's."""

    stack: str
    operation: str
    placement: str
    policy: str
    concurrency: int
    block: int
    requester: str


def read_record(path: Path) -> npt.NDArray[np.int64]:
    """The rows of a raw record as (n, 10) int64, up to the first one never written; a torn last row is left out.

    FileNotFoundError when there is no such file.
    """
    flat = np.fromfile(path, dtype=ROW)
    rows = flat[: flat.size // RAW_COLUMNS * RAW_COLUMNS].reshape(-1, RAW_COLUMNS)
    unwritten = np.flatnonzero(rows[:, 0] == 0)
    return rows[: unwritten[0]] if unwritten.size else rows


def to_parquet(record: Path, target: Path, constants: Constants, *, staging: Path) -> str:
    """Write `target` from a raw record by way of `staging`; the file's SHA-256.

    Stamps are nearly equidistant, so delta encoding with zstd takes a fifth of the record's bytes. InvalidMeasurement
    when the record holds no row, MissingError when the disk is full.
    """
    rows = read_record(record)
    if not len(rows):
        raise InvalidMeasurement(
            f"{record}: the timing record is empty",
            hint="the trial's last words are under logs/; `orch run --resume` repeats what was cut",
        )
    with whole_file(target, staging=staging) as partial:
        pq.write_table(
            _table(rows, constants),
            partial,
            compression="zstd",
            use_dictionary=list(SAMPLE_COLUMNS[RAW_COLUMNS:]),
            column_encoding=dict.fromkeys(_STAMPS, "DELTA_BINARY_PACKED"),
        )
        return sha256_of(partial)


def _table(rows: npt.NDArray[np.int64], constants: Constants) -> pa.Table:
    columns = {name: pa.array(rows[:, place]) for place, name in enumerate(_STAMPS)}
    zeros = pa.array(np.zeros(len(rows), dtype=np.int32))
    for name, value in asdict(constants).items():
        columns[name] = (
            pa.DictionaryArray.from_arrays(zeros, pa.array([value]))
            if isinstance(value, str)
            else pa.array(np.full(len(rows), value, dtype=np.int64))
        )
    return pa.table({name: columns[name] for name in SAMPLE_COLUMNS})


def constants(journal_state: derive.JournalState, plan: Plan) -> dict[str, Constants]:
    """What is constant in each file of samples, by its path; those of repeated blocks too."""
    found: dict[str, Constants] = {}
    for trial in journal_state.every_trial:
        found |= _of_trial(trial, plan)
    for baseline in journal_state.every_baseline:
        found[baseline.samples] = _of_baseline(baseline)
    return found


def _of_trial(trial: TrialRecord, plan: Plan) -> dict[str, Constants]:
    cell = next((c for c in plan.cells if c.id == trial.cell), None)
    if cell is None:
        raise InvalidMeasurement(f"trial {trial.index} is of cell {trial.cell[:200]!r}, which the plan does not have")
    return {
        part.samples: Constants(
            stack=cell.stack,
            operation=cell.operation,
            placement=cell.placement,
            policy=cell.connection,
            concurrency=cell.load.concurrency,
            block=trial.block,
            requester=part.host,
        )
        for part in trial.requesters
        if part.samples
    }


def _of_baseline(baseline: BaselineRecord) -> Constants:
    return Constants(
        stack=baseline.kind,
        operation="exchange" if baseline.kind == "tcp" else "ping",
        placement=baseline.placement,
        policy=baseline.policy,
        concurrency=1,
        block=baseline.block,
        requester=baseline.requester,
    )
