"""The raw timing record: what is stored comes back, whatever happens to the writer."""

from __future__ import annotations

import signal
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.python.load import record as record_module
from services.python.load.record import ROW_BYTES, Record, Row, read_record

int64 = st.integers(-(2**63), 2**63 - 1)
rows = st.lists(st.tuples(st.integers(1, 2**63 - 1), *[int64] * 9), max_size=40)


@given(rows=rows, expected=st.integers(1, 60))
def test_rows_come_back_as_they_were_stored(tmp_path_factory: pytest.TempPathFactory, rows, expected):
    path = tmp_path_factory.mktemp("record") / "r"
    with Record(path, expected) as record:
        for row in rows:
            record.append(*row)
    assert [tuple(row) for row in read_record(path)] == rows
    assert path.stat().st_size == len(rows) * ROW_BYTES


def test_grows_when_more_rows_come_than_expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(record_module, "GROW_ROWS", 3)
    with Record(tmp_path / "r", 2) as record:
        for sequence in range(1, 12):
            record.append(sequence, 1, 0, 0, 0, 0, -1, 0, 0, 0)
    assert [row.sequence for row in read_record(tmp_path / "r")] == list(range(1, 12))


def test_the_columns_are_those_of_the_contract(tmp_path: Path):
    with Record(tmp_path / "r", 1) as record:
        record.append(1, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    assert struct.unpack("<10q", (tmp_path / "r").read_bytes()) == (1, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    assert list(read_record(tmp_path / "r")) == [
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


_WRITES_FOREVER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from services.python.load.record import Record
record = Record(sys.argv[1], 1000)
sequence = 0
while True:
    sequence += 1
    record.append(sequence, 1, 0, sequence, sequence, sequence, -1, 0, 0, 0)
    if sequence == 5000:
        print("5000", flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_stored(tmp_path: Path):
    path = tmp_path / "r"
    writer = subprocess.Popen([sys.executable, "-c", _WRITES_FOREVER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "5000\n"
    writer.send_signal(signal.SIGKILL)
    writer.communicate(timeout=30)
    stored = list(read_record(path))
    assert len(stored) >= 5000
    assert [row.sequence for row in stored] == list(range(1, len(stored) + 1))
    assert all(row.received_ns == row.sequence for row in stored)


def test_a_row_without_its_sequence_was_never_completed(tmp_path: Path):
    with Record(tmp_path / "r", 2) as record:
        record.append(1, 1, 0, 1, 1, 1, -1, 0, 0, 0)
    with (tmp_path / "r").open("ab") as file:
        file.write(struct.pack("<10q", 0, 1, 0, 9, 9, 0, 0, 0, 0, 0))
        file.write(struct.pack("<10q", 3, 1, 0, 9, 9, 9, -1, 0, 0, 0))
    assert [row.sequence for row in read_record(tmp_path / "r")] == [1]


def test_half_a_row_is_not_a_record(tmp_path: Path):
    (tmp_path / "r").write_bytes(bytes(ROW_BYTES + 1))
    with pytest.raises(ValueError, match="whole number of rows"):
        list(read_record(tmp_path / "r"))


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
