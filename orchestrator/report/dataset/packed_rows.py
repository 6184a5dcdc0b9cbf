"""Samples in few bytes: the stamps of all files as steps from one to the next, in one Parquet file, and back to the bit.

A stamp is 63 bits, of which a closed loop makes few anew: how long the reply took, and how soon the next request was sent.
So a row holds `took_ns` (received less sent), `late_ns` (sent less intended), and `step_ns` from where it was expected: by
`connection`, from the last reply on the same connection; by `schedule`, from the row before, by when it was due. Which of
the two takes fewer bits is chosen for each file. Arithmetic wraps as int64 does, so nothing is lost whatever the stamps are.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.record_layout import COLUMNS

Numbers: TypeAlias = npt.NDArray[np.int64]
Columns: TypeAlias = Mapping[str, Numbers]
Order = Literal["connection", "schedule"]

_STEPS = ("step_ns", "late_ns", "took_ns")
_STAMPS = ("intended_ns", "sent_ns", "received_ns")
_AS_THEY_ARE = tuple(name for name in COLUMNS if name not in _STAMPS)
PACKED = (*_STEPS, *_AS_THEY_ARE)
"""The columns of the packed file, all int64."""
_LEVEL = 19  # of zstd: three per cent smaller than 12
_ENCODINGS = ("DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT")


@dataclass(frozen=True, kw_only=True)
class FileOfRows:
    """One samples or baselines file of the run, with so many rows. `base_ns` is where the first step begins."""

    path: str
    rows: int
    base_ns: int
    order: Order


def pack(files: Mapping[str, Columns]) -> tuple[tuple[FileOfRows, ...], bytes]:
    """All files in one Parquet file, and what each is."""
    about, parts = [], []
    for path, columns in files.items():
        order, base_ns, part = _steps(columns)
        parts.append(part)
        about.append(FileOfRows(path=path, rows=len(part["took_ns"]), base_ns=base_ns, order=order))
    every = {name: np.concatenate([part[name] for part in parts]) for name in PACKED} if parts else {}
    return tuple(about), _smallest(every)


def unpack(files: Sequence[FileOfRows], packed: Columns) -> Iterator[tuple[FileOfRows, dict[str, Numbers]]]:
    """Each file with its columns; ValueError when rows are left over or missing."""
    if any(file.rows < 0 for file in files) or sum(file.rows for file in files) != len(packed["took_ns"]):
        raise ValueError("it holds another number of rows than it says")
    start = 0
    limits = np.iinfo(np.int64)
    for file in files:
        if not limits.min <= file.base_ns <= limits.max:
            raise ValueError(f"{file.path} begins at no time")
        part = {name: packed[name][start : start + file.rows].astype(np.int64) for name in PACKED}
        start += file.rows
        stamps = _stamps(file.order, file.base_ns, part)
        yield file, {name: stamps[name] if name in _STAMPS else part[name] for name in COLUMNS}


def _steps(columns: Columns) -> tuple[Order, int, dict[str, Numbers]]:
    """The way in which steps are smaller, where they begin, and the columns of `PACKED`."""
    intended, sent, received = (columns[name].astype(np.int64) for name in _STAMPS)
    rows = sent.size
    plain = {name: columns[name].astype(np.int64) for name in _AS_THEY_ARE}
    base_ns = int(sent[0]) if rows else 0
    before = np.full(rows, base_ns, dtype=np.int64)
    order, is_next = _by_connection(plain["connection"])
    before[order[is_next]] = received[order[np.flatnonzero(is_next) - 1]]
    of_connection = sent - before
    of_schedule = np.diff(intended, prepend=np.int64(base_ns))
    is_scheduled = _bits(of_schedule) < _bits(of_connection)
    step = of_schedule if is_scheduled else of_connection
    steps = {"step_ns": step, "late_ns": sent - intended, "took_ns": received - sent}
    return "schedule" if is_scheduled else "connection", base_ns, steps | plain


def _stamps(order: Order, base_ns: int, part: Columns) -> dict[str, Numbers]:
    """The inverse of `_steps`."""
    step, late, took = (part[name] for name in _STEPS)
    base = np.int64(base_ns)
    if order == "schedule":
        intended = np.cumsum(step, dtype=np.int64) + base
        sent = intended + late
        return {"intended_ns": intended, "sent_ns": sent, "received_ns": sent + took}
    places, is_next = _by_connection(part["connection"])
    ends = np.cumsum((step + took)[places], dtype=np.int64)
    firsts = np.flatnonzero(~is_next)
    ends_before = np.where(firsts > 0, ends[firsts - 1], 0) if firsts.size else firsts
    received = np.empty_like(took)
    received[places] = ends - np.repeat(ends_before, np.diff(np.append(firsts, places.size))) + base
    sent = received - took
    return {"intended_ns": sent - late, "sent_ns": sent, "received_ns": received}


def _by_connection(connection: Numbers) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """The places of rows by connection, and of each in that order whether the one before is of the same connection."""
    places = np.argsort(connection, kind="stable")
    ordered = connection[places]
    is_next = np.zeros(places.size, dtype=np.bool_)
    is_next[1:] = ordered[1:] == ordered[:-1]
    return places, is_next


def _bits(steps: Numbers) -> float:
    """About how many bits these steps take, of which the first is known."""
    return float(np.log2(np.abs(np.diff(steps[1:]).astype(np.float64)) + 1).sum())


def _smallest(columns: Columns) -> bytes:
    """A Parquet file of these columns, each in the encoding in which it is smaller."""
    noisy = [name for name in PACKED if columns and (columns[name] != columns[name][:1]).any()]
    best = {name: min(_ENCODINGS, key=lambda way: len(_parquet({name: columns[name]}, {name: way}))) for name in noisy}
    every = columns or {name: np.zeros(0, dtype=np.int64) for name in PACKED}
    return _parquet(every, {name: best.get(name, _ENCODINGS[0]) for name in PACKED})


def _parquet(columns: Columns, encodings: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    options: dict[str, Any] = {"use_dictionary": False, "write_statistics": False, "row_group_size": 1 << 20}
    pq.write_table(
        pa.table({name: pa.array(values) for name, values in columns.items()}),
        file,
        compression="zstd",
        compression_level=_LEVEL,
        column_encoding=dict(encodings),
        **options,
    )
    return file.getvalue()
