"""What is read as samples."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.errors import InvalidMeasurement
from orchestrator.results.columns import read_columns


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"intended_ns": [2**63 - 1]}, "column intended_ns holds a time"),
        ({"sent_ns": [-1]}, "column sent_ns holds a time"),
        ({"sent_ns": [1, 5], "received_ns": [2, 4]}, r"ends \(received_ns\) before it begins \(sent_ns\)"),
        ({"intended_ns": [5], "received_ns": [4]}, r"before it begins \(intended_ns\)"),
        ({"bytes_received": [2**62]}, "column bytes_received holds a size"),
        ({"sender_ns": [-(2**63)], "received_ns": [4]}, "column sender_ns holds a time"),
    ],
)
def test_times_and_sizes_that_cannot_be_are_refused(tmp_path: Path, columns: dict[str, list[int]], words: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InvalidMeasurement, match=words):
        read_columns(path, list(columns))


def test_small_numbers_take_little_memory_and_large_ones_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    numbers = {"phase": [0, 1], "status": [0, 127], "kind": [0, 0], "parent": [0, 0], "sequence": [1, 2**40]}
    pq.write_table(pa.table(numbers), path)
    found = read_columns(path, ["phase", "status", "sequence"])
    assert {name: column.itemsize for name, column in found.items()} == {"phase": 1, "status": 1, "sequence": 8}
    pq.write_table(pa.table(numbers | {"status": [300, -129]}), path)
    assert read_columns(path, ["status"])["status"].tolist() == [300, -129]
