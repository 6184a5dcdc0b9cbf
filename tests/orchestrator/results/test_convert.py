from __future__ import annotations

import hashlib
import os

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from orchestrator.errors import InvalidMeasurement, MissingError
from orchestrator.results import convert
from orchestrator.results.columns import read_columns
from orchestrator.results.convert import Constants, read_record, to_parquet
from orchestrator.results.documents import sha256_of
from orchestrator.results.manifest import SAMPLE_COLUMNS
from orchestrator.results.records import sha256_of_rows
from tests.support.hosts import rows

CONSTANTS = Constants(
    stack="rest",
    operation="echo",
    placement="local",
    factors={"connection": "reuse", "concurrency": 4},
    block=2,
    requester="h1",
)


def test_rows_that_were_never_written_are_left_out(tmp_path):
    record = tmp_path / "record"
    record.write_bytes(rows(3) + bytes(80 * 5))
    assert read_record(record)[:, 0].tolist() == [1, 2, 3]


def test_a_row_torn_by_a_copy_is_left_out(tmp_path):
    record = tmp_path / "record"
    record.write_bytes(rows(3)[:-8])
    assert len(read_record(record)) == 2


def test_every_stamp_comes_back_as_it_was(tmp_path):
    record, target = tmp_path / "record", tmp_path / "out" / "t.parquet"
    record.write_bytes(rows(1_000, warmup=10, rtt_ns=123_457, start_ns=2**62))
    digest = to_parquet(record, target, CONSTANTS, staging=tmp_path / "staging")
    assert digest == sha256_of(target)
    table = pq.read_table(target)
    assert table.column_names == list(SAMPLE_COLUMNS)
    raw = read_record(record)
    for place, name in enumerate(SAMPLE_COLUMNS[:10]):
        assert np.array_equal(table[name].to_numpy(), raw[:, place])
    assert target.stat().st_size < record.stat().st_size / 5


def test_what_is_constant_is_in_every_row(tmp_path):
    record, target = tmp_path / "record", tmp_path / "t.parquet"
    record.write_bytes(rows(3))
    to_parquet(record, target, CONSTANTS, staging=tmp_path)
    frame = pd.read_parquet(target)
    assert set(frame["stack"]) == {"rest"}
    assert set(frame["requester"]) == {"h1"}
    assert set(frame["concurrency"]) == {4}
    assert set(frame["block"]) == {2}


def test_files_of_different_stacks_make_one_table(tmp_path):
    record = tmp_path / "record"
    for number, stack in enumerate(["rest", "grpc"]):
        record.write_bytes(rows(number + 1))
        constants = Constants(**{**CONSTANTS.__dict__, "stack": stack})
        to_parquet(
            record, tmp_path / "samples" / f"cell={stack}" / "a.parquet", constants, staging=tmp_path / "staging"
        )
    frame = pd.read_parquet(tmp_path / "samples")
    assert frame["stack"].astype(str).value_counts().to_dict() == {"grpc": 2, "rest": 1}
    assert (frame["stack"].astype(str) == frame["cell"].astype(str)).all()


def test_an_empty_record_is_an_error_that_names_it(tmp_path):
    (tmp_path / "record").write_bytes(bytes(800))
    with pytest.raises(InvalidMeasurement, match="record: the timing record is empty"):
        to_parquet(tmp_path / "record", tmp_path / "t.parquet", CONSTANTS, staging=tmp_path)


def test_a_full_disk_leaves_no_half_file(tmp_path, monkeypatch):
    def half(table, where, **options):
        where.write(b"PAR1")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(convert.pq, "write_table", half)
    (tmp_path / "record").write_bytes(rows(3))
    with pytest.raises(MissingError, match=r"disk is full.*t\.parquet"):
        to_parquet(tmp_path / "record", tmp_path / "out" / "t.parquet", CONSTANTS, staging=tmp_path / "staging")
    assert list((tmp_path / "out").iterdir()) == []
    assert list((tmp_path / "staging").iterdir()) == []


def test_a_folder_whose_name_is_not_utf8_is_written_to_and_read(tmp_path):
    folder = tmp_path / os.fsdecode(b"for\xffeign")
    folder.mkdir()
    (folder / "record").write_bytes(rows(3))
    digest = to_parquet(folder / "record", folder / "t.parquet", CONSTANTS, staging=folder)
    found = read_columns(folder / "t.parquet", ["sequence"], most_rows=3, sha256=digest)
    assert found["sequence"].tolist() == [1, 2, 3]


def test_rows_are_hashed_without_the_room_behind_them(tmp_path):
    record = tmp_path / "record"
    record.write_bytes(rows(70_000) + bytes(80 * 5))
    assert sha256_of_rows(record) == hashlib.sha256(rows(70_000)).hexdigest()
    assert len(read_record(record)) == 70_000
