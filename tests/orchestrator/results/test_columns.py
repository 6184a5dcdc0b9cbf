"""What is read as samples, though it comes from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.errors import InvalidMeasurement
from orchestrator.results.columns import read_columns
from orchestrator.results.sizes import Held


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    with pytest.raises(InvalidMeasurement, match="two columns of one name"):
        read_columns(path, ["a"], Held(most_rows=1))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"intended_ns": [2**63 - 1]}, "column intended_ns holds a time"),
        ({"sent_ns": [-1]}, "column sent_ns holds a time"),
        ({"sent_ns": [1, 5], "received_ns": [2, 4]}, r"ends \(received_ns\) before it begins \(sent_ns\)"),
        ({"intended_ns": [5], "received_ns": [4]}, r"before it begins \(intended_ns\)"),
        ({"bytes_received": [2**62]}, "column bytes_received holds a size"),
    ],
)
def test_times_and_sizes_that_cannot_be_are_refused(tmp_path: Path, columns: dict[str, list[int]], words: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InvalidMeasurement, match=words):
        read_columns(path, list(columns), Held(most_rows=10))


@pytest.mark.parametrize("name", ["kind", "parent"])
def test_rows_that_are_no_requests_are_refused_whatever_is_asked_for(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.parquet"
    for value in (0, 2):
        pq.write_table(pa.table({"sent_ns": [1, 2], "kind": [0, 0], "parent": [0, 0]} | {name: [0, value]}), path)
        if not value:
            assert read_columns(path, ["sent_ns"], Held(most_rows=2))["sent_ns"].tolist() == [1, 2]
    words = {"kind": "holds rows of kind part, which no cell of kind call has", "parent": "kind request has a parent"}
    with pytest.raises(InvalidMeasurement, match=words[name]):
        read_columns(path, ["sent_ns"], Held(most_rows=2))
