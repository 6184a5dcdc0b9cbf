"""What is read as samples, though it comes from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.errors import InvalidMeasurement
from orchestrator.results.columns import read_columns


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    with pytest.raises(InvalidMeasurement, match="two columns of one name"):
        read_columns(path, ["a"], most_rows=1)
