from __future__ import annotations

import re
from struct import pack

import numpy as np
import pyarrow.parquet as pq
import pytest

from orchestrator.errors import InvalidMeasurement, MissingError
from orchestrator.record_layout import COLUMNS, ROW
from orchestrator.results import convert
from orchestrator.results.convert import Constants, read_record, to_parquet
from orchestrator.results.documents import digest as sha256_of
from orchestrator.results.manifest import SAMPLE_COLUMNS
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
    record.write_bytes(rows(3) + bytes(ROW.size * 5))
    assert read_record(record)[:, 0].tolist() == [1, 2, 3]


def changed(place: int, value: bytes) -> bytes:
    content = bytearray(rows(3))
    content[place : place + len(value)] = value
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a timing record of version 2 with its 14 columns"),
        (rows(3)[:511], "not a timing record"),
        (changed(8, pack("<q", 1)), "not a timing record of version 2"),
        (changed(64 + 32 * 10, b"sort"), "not a timing record"),
        (rows(3)[:-8], "its 328 bytes after the header are no whole number of rows of 112"),
    ],
)
def test_what_is_no_record_of_this_version_is_refused_in_one_sentence(tmp_path, content, reason):
    record = tmp_path / "record"
    record.write_bytes(content)
    with pytest.raises(InvalidMeasurement, match=re.escape(f"{record}: {reason}")):
        read_record(record)


def test_every_stamp_comes_back_as_it_was(tmp_path):
    record, target = tmp_path / "record", tmp_path / "out" / "t.parquet"
    record.write_bytes(rows(1_000, warmup=10, rtt_ns=123_457, start_ns=2**62))
    digest = to_parquet(record, target, CONSTANTS, staging=tmp_path / "staging")
    assert digest == sha256_of(target)
    table = pq.read_table(target)
    assert table.column_names == list(SAMPLE_COLUMNS)
    raw = read_record(record)
    for place, name in enumerate(COLUMNS):
        assert np.array_equal(table[name].to_numpy(), raw[:, place])
    assert target.stat().st_size < record.stat().st_size / 5


def test_samples_stand_in_the_order_in_which_their_replies_came(tmp_path):
    record, target = tmp_path / "record", tmp_path / "t.parquet"
    record.write_bytes(rows(50))
    stored = read_record(record)
    order = np.random.default_rng(1).permutation(50)
    record.write_bytes(rows(0) + stored[order].tobytes())
    to_parquet(record, target, CONSTANTS, staging=tmp_path)
    table = pq.read_table(target)
    assert table["sequence"].to_pylist() == list(range(1, 51))
    assert table["received_ns"].to_pylist() == stored[:, 5].tolist()


def test_an_empty_record_is_an_error_that_names_it(tmp_path):
    (tmp_path / "record").write_bytes(rows(0) + bytes(10 * ROW.size))
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
