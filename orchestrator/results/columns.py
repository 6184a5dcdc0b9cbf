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

from orchestrator.record_layout import KINDS
from orchestrator.results import rows as of_rows
from orchestrator.results import sizes
from orchestrator.results.paths import ALTERED, damaged, open_regular

_MOST_COLUMNS = 64
_MISLEADING = KINDS.index("misleading")
_STAMPS = {"intended_ns", "sent_ns", "received_ns", "sender_ns"}
_LATEST_NS = 1 << 62  # 146 years since the host was started
_BYTES = {"bytes_sent", "bytes_received"}
_MOST_BYTES = 1 << 32
_MOST_TEXT_BYTES = 1 << 16  # all different texts of a column: orch writes one
_NARROW: Mapping[str, type[np.signedinteger[Any]]] = {
    "phase": np.int8,
    "status": np.int8,
    "kind": np.int8,
    "sender_clock": np.int8,
    "connection": np.int32,
}
_ROWS_AT_ONCE = 1 << 18


def read_columns(
    path: Path,
    columns: Sequence[str],
    held: sizes.Held,
    *,
    sha256: str | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Columns by name: whole numbers, or object for text. InvalidMeasurement when the file is not one that orch writes.

    They are read one after the other, small numbers into small types, as a file may hold millions of rows. Its rows are
    those of what it is to hold (`results.rows`), whatever is asked for. It is opened once, without following a link: what
    is read is what was found to have that `sha256` (not looked at where None). What it says of its size is
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
            if is_plain := held.kind == "call" and not held.parts:
                _require_calls(path, file)
            needed = columns if is_plain else (*columns, *of_rows.COLUMNS)
            if not set(needed) <= set(names):
                raise damaged(path, "not a samples file of orch")
            found = {name: _column(path, file, name) for name in dict.fromkeys(needed)}
    except FileNotFoundError as error:
        raise damaged(path, "the file is missing") from error
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, f"cannot be read as Parquet: {error}") from error
    if not is_plain:
        why = of_rows.refusal(
            found, held.kind, parts=held.parts, at_once=held.at_once, subscriptions=held.subscriptions
        )
        if why is not None:
            raise damaged(path, why)
    require_possible(path, found, none_else=None if is_plain or held.kind != "call" else found["kind"] != _MISLEADING)
    return {name: found[name] for name in columns}


def declared_rows(path: Path, held: sizes.Held) -> int:
    """How many rows a file declares, without looking at them; InvalidMeasurement as `read_columns`."""
    try:
        with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as opened:
            file = pq.ParquetFile(opened, thrift_string_size_limit=1 << 20, thrift_container_size_limit=1 << 16)
            _require_bounded(path, file.metadata, held.most_rows, os.fstat(opened.fileno()).st_size)
            return int(file.metadata.num_rows)
    except FileNotFoundError as error:
        raise damaged(path, "the file is missing") from error
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, f"cannot be read as Parquet: {error}") from error


def read_numbers(
    content: bytes, path: Path, columns: Sequence[str], most_rows: int
) -> dict[str, npt.NDArray[np.signedinteger[Any]]]:
    """Columns by name of a Parquet file in memory that is to hold these whole numbers and nothing else.

    InvalidMeasurement names `path`, which it is from, when it holds anything else or declares more than `most_rows`.
    """
    try:
        file = pq.ParquetFile(
            pa.BufferReader(content), thrift_string_size_limit=1 << 20, thrift_container_size_limit=1 << 16
        )
        _require_bounded(path, file.metadata, most_rows, len(content))
        schema = file.schema_arrow
        if schema.names != list(columns) or any(kind != pa.int64() for kind in schema.types):
            raise damaged(path, "its samples have other columns than orch writes")
        return {name: _numbers(path, file, name) for name in columns}
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, f"its samples cannot be read as Parquet: {error}") from error


def _column(path: Path, file: pq.ParquetFile, name: str) -> npt.NDArray[Any]:
    if file.schema_arrow.field(name).type == pa.int64():
        return _numbers(path, file, name)
    column = file.read(columns=[name])[name]
    if column.null_count or not _is_text(column.type):
        raise damaged(path, f"column {name} is of another type than orch writes")
    if len(column) != file.metadata.num_rows or _text_bytes(column) > _MOST_TEXT_BYTES:
        raise damaged(path, f"column {name} holds more than orch writes")
    values: npt.NDArray[Any] = column.combine_chunks().dictionary_decode().to_numpy(zero_copy_only=False)
    return values


def _numbers(path: Path, file: pq.ParquetFile, name: str) -> npt.NDArray[Any]:
    """A column of whole numbers, some at a time, so that it is never there twice."""
    narrow = _NARROW.get(name, np.int64)
    limits = np.iinfo(narrow)
    values: npt.NDArray[Any] = np.empty(file.metadata.num_rows, dtype=narrow)
    filled = 0
    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=[name]):
        column = batch[name]
        if column.null_count:
            raise damaged(path, f"column {name} is of another type than orch writes")
        if filled + len(column) > values.size:
            raise damaged(path, f"column {name} holds more than orch writes")
        part = column.to_numpy()
        if part.size and not limits.min <= part.min() <= part.max() <= limits.max:
            values, limits = values.astype(np.int64), np.iinfo(np.int64)
        values[filled : filled + part.size] = part
        filled += part.size
    if filled < values.size:
        raise damaged(path, f"column {name} holds fewer rows than its file declares")
    return values


def _require_calls(path: Path, file: pq.ParquetFile) -> None:
    """InvalidMeasurement for rows that calls do not have: a part, counted as a sample, makes a wrong percentile.

    A file without these columns is one of calls.
    """
    asked = ("kind", "parent")
    names = file.schema_arrow.names
    if not set(asked) & set(names):
        return
    if not set(asked) <= set(names):
        raise damaged(path, "not a samples file of orch")
    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=list(asked)):
        found = {}
        for name in asked:
            if batch[name].type != pa.int64() or batch[name].null_count:
                raise damaged(path, f"column {name} is of another type than orch writes")
            found[name] = batch[name].to_numpy()
        if (why := of_rows.refusal(found, "call")) is not None:
            raise damaged(path, why)


def require_possible(
    path: Path, columns: Mapping[str, npt.NDArray[Any]], none_else: npt.NDArray[np.bool_] | None = None
) -> None:
    """InvalidMeasurement for stamps that no clock gives: calculating with them overflows, or gives times below zero.

    `none_else`: the rows that may not end before they begin (None: all), where others may: a rule may have two clocks.
    """
    for name in _STAMPS & columns.keys():
        stamps = columns[name]
        if stamps.size and not (stamps.min() >= 0 and stamps.max() <= _LATEST_NS):
            raise damaged(path, f"column {name} holds a time that no clock of orch gives")
    for first, last in (("sent_ns", "received_ns"), ("intended_ns", "received_ns")):
        if first not in columns or last not in columns:
            continue
        is_backwards = columns[last] < columns[first]
        if (is_backwards if none_else is None else is_backwards & none_else).any():
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


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type))
