"""Reads columns of a samples file, which may come from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.results.paths import damaged

_MOST_ROWS = 100_000_000


def read_columns(path: Path, columns: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Columns by name: int64, or object for text. InvalidMeasurement when the file is not one that orch writes."""
    try:
        file = pq.ParquetFile(path)
        names = file.schema_arrow.names
        if len(set(names)) != len(names):
            raise damaged(path, "it has two columns of one name")
        if not set(columns) <= set(names) or file.metadata.num_rows > _MOST_ROWS:
            raise damaged(path, "not a samples file of orch")
        table = file.read(columns=list(columns))
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, f"cannot be read as Parquet: {error}") from error
    found = {}
    for name in columns:
        column = table[name]
        if column.null_count or not _is_known(column.type):
            raise damaged(path, f"column {name} is of another type than orch writes")
        found[name] = _values(column.combine_chunks())
    return found


def _is_known(kind: Any) -> bool:
    return bool(kind == pa.int64() or (pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type)))


def _values(array: Any) -> npt.NDArray[np.generic]:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    values: npt.NDArray[np.generic] = array.to_numpy(zero_copy_only=False)
    return values
