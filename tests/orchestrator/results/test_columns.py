"""What is read as samples, though it comes from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.errors import InvalidMeasurement
from orchestrator.results.columns import declared_rows, read_columns
from orchestrator.results.sizes import Held


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    with pytest.raises(InvalidMeasurement, match="two columns of one name"):
        read_columns(path, ["a"], Held(most_rows=1))


def test_rows_are_counted_by_what_a_file_declares_within_what_it_may_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"sequence": [1, 2, 3]}), path)
    assert declared_rows(path, Held(most_rows=3)) == 3
    with pytest.raises(InvalidMeasurement, match="the plan allows 2"):
        declared_rows(path, Held(most_rows=2))
    with pytest.raises(InvalidMeasurement, match="the file is missing"):
        declared_rows(tmp_path / "none.parquet", Held(most_rows=3))
    path.write_bytes(b"no Parquet")
    with pytest.raises(InvalidMeasurement, match="cannot be read as Parquet"):
        declared_rows(path, Held(most_rows=3))


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


def test_small_numbers_take_little_memory_and_large_ones_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    numbers = {"phase": [0, 1], "status": [0, 127], "kind": [0, 0], "parent": [0, 0], "sequence": [1, 2**40]}
    pq.write_table(pa.table(numbers), path)
    found = read_columns(path, ["phase", "status", "sequence"], Held(most_rows=2))
    assert {name: column.itemsize for name, column in found.items()} == {"phase": 1, "status": 1, "sequence": 8}
    pq.write_table(pa.table(numbers | {"status": [300, -129]}), path)
    assert read_columns(path, ["status"], Held(most_rows=2))["status"].tolist() == [300, -129]


def test_more_subscriptions_than_a_trial_has_clients_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    names = ("phase", "connection", "sent_ns", "received_ns", "status", "kind", "parent")
    zeros = {name: [0, 0, 0] for name in names}
    pq.write_table(pa.table({"sequence": [1, 2, 3], **zeros}), path)
    assert len(read_columns(path, ["sequence"], Held(most_rows=3, kind="stream", subscriptions=3))["sequence"]) == 3
    with pytest.raises(InvalidMeasurement, match="it holds 3 subscriptions, and this trial has at most 2"):
        read_columns(path, ["sequence"], Held(most_rows=3, kind="stream", subscriptions=2))
