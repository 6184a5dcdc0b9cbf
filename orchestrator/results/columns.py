"""Reads columns of a samples file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.results.documents import ALTERED, Damaged

_STAMPS = {"intended_ns", "sent_ns", "received_ns", "sender_ns"}
_LATEST_NS = 1 << 62  # 146 years since the host was started
_NARROW: Mapping[str, type[np.signedinteger[Any]]] = {
    "phase": np.int8,
    "status": np.int8,
    "kind": np.int8,
    "sender_clock": np.int8,
    "connection": np.int32,
}


def read_columns(path: Path, columns: Sequence[str], *, sha256: str | None = None) -> dict[str, npt.NDArray[Any]]:
    """Return columns by name: whole numbers, or object for text.

    They are read one after the other, small numbers into small types, as a file may hold millions of rows. What is read
    is what was found to have that `sha256` (not looked at where None). InvalidMeasurement when the file has another one,
    or holds stamps that no clock gives.
    """
    with _opened(path) as opened:
        if sha256 is not None and hashlib.file_digest(opened, "sha256").hexdigest() != sha256:
            raise Damaged(path, ALTERED)
        file = pq.ParquetFile(opened)
        if not set(columns) <= set(file.schema_arrow.names):
            raise Damaged(path, "not a samples file of orch")
        arrays = {name: _column(file, name) for name in dict.fromkeys(columns)}
        require_possible(path, arrays)
        return arrays


def declared_rows(path: Path) -> int:
    """Return how many rows a file declares, without looking at them; InvalidMeasurement as `read_columns`."""
    with _opened(path) as opened:
        return int(pq.ParquetFile(opened).metadata.num_rows)


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    """The file; Damaged when it is missing, or is not read as Parquet within the block."""
    try:
        with path.open("rb") as opened:
            yield opened
    except FileNotFoundError as error:
        raise Damaged(path, "the file is missing") from error
    except (pa.ArrowException, OSError) as error:
        raise Damaged(path, f"cannot be read as Parquet: {error}") from error


def _column(file: pq.ParquetFile, name: str) -> npt.NDArray[Any]:
    column = file.read(columns=[name], use_threads=False)[name]
    is_text = pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type)
    if is_text:
        texts: npt.NDArray[Any] = column.combine_chunks().dictionary_decode().to_numpy(zero_copy_only=False)
        return texts
    values: npt.NDArray[Any] = column.to_numpy()
    narrow = _NARROW.get(name, np.int64)
    limits = np.iinfo(narrow)
    fits = not values.size or limits.min <= values.min() <= values.max() <= limits.max
    return values.astype(narrow) if fits else values


def require_possible(path: Path, columns: Mapping[str, npt.NDArray[Any]]) -> None:
    """InvalidMeasurement for stamps that no clock gives: calculating with them overflows, or gives times below zero."""
    for name in _STAMPS & columns.keys():
        stamps = columns[name]
        if stamps.size and not (stamps.min() >= 0 and stamps.max() <= _LATEST_NS):
            raise Damaged(path, f"column {name} holds a time that no clock of orch gives")
    for first, last in (("sent_ns", "received_ns"), ("intended_ns", "received_ns")):
        if first not in columns or last not in columns:
            continue
        if (columns[last] < columns[first]).any():
            raise Damaged(path, f"a row ends ({last}) before it begins ({first})")
