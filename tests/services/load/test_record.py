"""The raw timing record: what is stored comes back, whatever happens to the writer."""

from __future__ import annotations

import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.python.load import record as record_module
from services.python.load.record import COLUMNS, HEADER, HEADER_BYTES, ROW_BYTES, Record, Row, read_record

int64 = st.integers(-(2**63), 2**63 - 1)
requests = st.tuples(st.integers(1, 2**63 - 1), *[int64] * 9)
others = st.tuples(st.integers(1, 2**63 - 1), *[int64] * 13)


@settings(deadline=None)  # files, on a machine that may be busy
@given(rows=st.lists(requests | others, max_size=40), expected=st.integers(1, 60))
def test_rows_come_back_as_they_were_stored(tmp_path_factory: pytest.TempPathFactory, rows, expected):
    path = tmp_path_factory.mktemp("record") / "r"
    with Record(path, expected) as record:
        for row in rows:
            if len(row) == len(COLUMNS):
                record.append_row(Row(*row))
            else:
                record.append(*row)
    assert [tuple(row) for row in read_record(path)] == [row + (0,) * (len(COLUMNS) - len(row)) for row in rows]
    assert path.stat().st_size == HEADER_BYTES + len(rows) * ROW_BYTES


def test_the_columns_are_those_of_the_contract(tmp_path: Path):
    with Record(tmp_path / "r", 1) as record:
        record.append(1, 1, 2, 3, 4, 5, 6, 7, 8, 9)
        record.append_row(Row(2, 1, 2, 3, 4, 5, 6, 7, 8, 9, kind=2, parent=1, sender_ns=12, sender_clock=4))
    content = (tmp_path / "r").read_bytes()
    assert struct.unpack("<8s4q24x", content[:64]) == (b"orchtime", 2, 512, 112, 14)
    assert content[64:512] == b"".join(name.encode().ljust(32, b"\0") for name in Row._fields)
    assert list(struct.iter_unpack("<14q", content[512:])) == [
        (1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0),
        (2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2, 1, 12, 4),
    ]
    assert list(read_record(tmp_path / "r"))[:1] == [
        Row(
            sequence=1,
            phase=1,
            connection=2,
            intended_ns=3,
            sent_ns=4,
            received_ns=5,
            service_ns=6,
            bytes_sent=7,
            bytes_received=8,
            status=9,
        )
    ]


@pytest.mark.parametrize("content", [b"", bytes(HEADER_BYTES), HEADER[:-1], HEADER.replace(b"kind", b"sort")])
def test_what_is_no_record_of_this_version_is_refused(tmp_path: Path, content: bytes):
    (tmp_path / "r").write_bytes(content)
    with pytest.raises(ValueError, match="not a timing record of version 2"):
        list(read_record(tmp_path / "r"))


_NO_SPACE_TO_GROW = """
import resource, sys
from services.python.load import record
record.GROW_ROWS = 1000
with record.Record(sys.argv[1], 2) as written:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        for sequence in range(1, 4):
            written.append(sequence, 1, 0, 0, 0, 0, -1, 0, 0, 0)
    except OSError as error:
        print("refused", [row.sequence for row in record.read_record(sys.argv[1])], flush=True)
"""


def test_a_record_that_cannot_grow_keeps_a_whole_number_of_rows(tmp_path: Path):
    asked = subprocess.run(
        [sys.executable, "-c", _NO_SPACE_TO_GROW, str(tmp_path / "r")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert asked.stdout == "refused [1, 2]\n", asked.stderr
    assert [row.sequence for row in read_record(tmp_path / "r")] == [1, 2]


_TOO_LITTLE_SPACE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
from services.python.load.record import Record
try:
    Record(sys.argv[1], 1000)
except OSError as error:
    print("refused", error.errno)
"""


def test_space_that_is_not_there_is_noticed_before_the_trial(tmp_path: Path):
    asked = subprocess.run(
        [sys.executable, "-c", _TOO_LITTLE_SPACE, str(tmp_path / "r")], capture_output=True, text=True, timeout=60
    )
    assert asked.stdout.startswith("refused"), asked.stderr
    assert not (tmp_path / "r").exists()


def test_threads_that_store_at_once_lose_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(record_module, "GROW_ROWS", 100)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with Record(tmp_path / "r", 10) as record, ThreadPoolExecutor(8) as pool:

            def store(thread: int) -> None:
                for n in range(1000):
                    record.append(1 + thread * 1000 + n, 1, thread, n, 0, 0, -1, 0, 0, 0)

            for stored in [pool.submit(store, thread) for thread in range(8)]:
                stored.result()
    finally:
        sys.setswitchinterval(before)
    rows = list(read_record(tmp_path / "r"))
    assert sorted(row.sequence for row in rows) == list(range(1, 8001))
    assert [row.sequence for row in rows if row.connection == 3] == list(range(3001, 4001))
