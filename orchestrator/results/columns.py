"""Reads columns of a samples file, which may come from elsewhere."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.results import rows as of_rows
from orchestrator.results import sizes
from orchestrator.results.paths import ALTERED, damaged, open_regular

_MOST_COLUMNS = 64
_STAMPS = {"intended_ns", "sent_ns", "received_ns"}
_LATEST_NS = 1 << 62  # 146 years since the host was started
_BYTES = {"bytes_sent", "bytes_received"}
_MOST_BYTES = 1 << 32
_MOST_TEXT_BYTES = 1 << 16  # all different texts of a column: orch writes one


def read_columns(
    path: Path,
    columns: Sequence[str],
    held: sizes.Held,
    *,
    sha256: str | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Columns by name: int64, or object for text. InvalidMeasurement when the file is not one that orch writes.

    Its rows are those of what it is to hold (`results.rows`), whatever is asked for. It is opened once, without following
    a link: what is read is what was found to have that `sha256` (not looked at where None). What it says of its size is
    looked at before anything is decoded: a few bytes may stand for any number of rows.
    """
    try:
        with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as opened:
            size, most_rows = os.fstat(opened.fileno()).st_size, held.most_rows
            if size > sizes.samples(most_rows):
                raise damaged(path, f"larger than {sizes.samples(most_rows):,} bytes, which orch never writes here")
            if sha256 is not None and hashlib.file_digest(opened, "sha256").hexdigest() != sha256:
                raise damaged(path, ALTERED)
            file = pq.ParquetFile(opened, thrift_string_size_limit=1 << 20, thrift_container_size_limit=1 << 16)
            _require_bounded(path, file.metadata, most_rows, size)
            names = file.schema_arrow.names
            if len(set(names)) != len(names):
                raise damaged(path, "it has two columns of one name")
            if not set(columns) <= set(names):
                raise damaged(path, "not a samples file of orch")
            table = file.read(columns=list(columns))
            _require_of_kind(path, file, held)
    except FileNotFoundError as error:
        raise damaged(path, "the file is missing") from error
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, f"cannot be read as Parquet: {error}") from error
    found = {}
    for name in columns:
        column = table[name]
        if column.null_count or not _is_known(column.type):
            raise damaged(path, f"column {name} is of another type than orch writes")
        if len(column) != file.metadata.num_rows or _text_bytes(column) > _MOST_TEXT_BYTES:
            raise damaged(path, f"column {name} holds more than orch writes")
        found[name] = _values(column.combine_chunks())
    _require_possible(path, found)
    return found


def _require_of_kind(path: Path, file: pq.ParquetFile, held: sizes.Held) -> None:
    """InvalidMeasurement for rows that this kind of work does not have.

    A part, counted as a sample, makes a wrong percentile. A file without these columns is one of calls.
    """
    if held.kind == "call" and not {"kind", "parent"} & set(file.schema_arrow.names):
        return
    asked = ("kind", "parent") if held.kind == "call" else of_rows.COLUMNS
    if not set(asked) <= set(file.schema_arrow.names):
        raise damaged(path, "not a samples file of orch")
    table = file.read(columns=list(asked))
    for name in asked:
        if table[name].type != pa.int64() or table[name].null_count:
            raise damaged(path, f"column {name} is of another type than orch writes")
    found = {name: table[name].to_numpy() for name in asked}
    if (why := of_rows.refusal(found, held.kind, parts=held.parts)) is not None:
        raise damaged(path, why)


def _require_possible(path: Path, columns: Mapping[str, npt.NDArray[Any]]) -> None:
    """InvalidMeasurement for stamps that no clock gives: calculating with them overflows, or gives times below zero."""
    for name in _STAMPS & columns.keys():
        stamps = columns[name]
        if stamps.size and not (stamps.min() >= 0 and stamps.max() <= _LATEST_NS):
            raise damaged(path, f"column {name} holds a time that no clock of orch gives")
    for first, last in (("sent_ns", "received_ns"), ("intended_ns", "received_ns")):
        if first in columns and last in columns and (columns[last] < columns[first]).any():
            raise damaged(path, f"a row ends ({last}) before it begins ({first})")
    for name in _BYTES & columns.keys():
        if columns[name].size and not (columns[name].min() >= -1 and columns[name].max() <= _MOST_BYTES):
            raise damaged(path, f"column {name} holds a size that no body has")


def _require_bounded(path: Path, about: pq.FileMetaData, most_rows: int, size: int) -> None:
    """InvalidMeasurement when the footer speaks of more rows or bytes than plan and journal allow, or `size` can hold."""
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    rows = max(about.num_rows, sum(group.num_rows for group in groups))
    if not 0 <= rows <= most_rows or any(group.num_rows < 0 for group in groups):
        raise damaged(path, f"it declares {rows:,} rows; the plan allows {most_rows:,}")
    if rows > size + sizes.FREE_ROWS:
        raise damaged(path, f"it declares {rows:,} rows in {size:,} bytes; measured times take more")
    if about.num_columns > _MOST_COLUMNS:
        raise damaged(path, f"it declares {about.num_columns:,} columns")
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    declared = max(sum(c.total_uncompressed_size for c in chunks), sum(g.total_byte_size for g in groups))
    if not 0 <= declared <= sizes.samples(most_rows):
        raise damaged(path, f"it declares {declared:,} bytes; {most_rows:,} rows never need as many")
    if any(chunk.num_values > group.num_rows for group in groups for chunk in [group.column(0)]):
        raise damaged(path, "it declares more values than rows")


def _text_bytes(column: pa.ChunkedArray) -> int:
    return sum(c.dictionary.nbytes for c in column.chunks) if pa.types.is_dictionary(column.type) else 0


def _is_known(kind: Any) -> bool:
    return bool(kind == pa.int64() or (pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type)))


def _values(array: Any) -> npt.NDArray[np.generic]:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    values: npt.NDArray[np.generic] = array.to_numpy(zero_copy_only=False)
    return values
