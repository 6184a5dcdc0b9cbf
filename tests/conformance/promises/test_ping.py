"""What `protos/process.md` promises of a ping, and of `describe`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.bad_lines import OTHER_VERSION
from tests.conformance.kit import Implementation, validated
from tests.conformance.reference.contract import STATUS, VERSION
from tests.conformance.reference.record import rows_of

pytestmark = pytest.mark.busy


def ping(pinging: Implementation, line: dict[str, Any] | str) -> tuple[dict[str, Any], int]:
    with pinging.start("ping") as program:
        program.send(line)
        (printed,) = [validated(text, "ping-done", "failed") for text in program.rest()]
        return printed, program.status()


def test_a_ping_counts_and_records_its_echoes(pinging: Implementation, tmp_path: Path):
    record = tmp_path / "record"
    line = {"type": "ping", "contract": VERSION, "address": "127.0.0.1", "record": str(record), "count": 3, "size": 40}
    done, status = ping(pinging, line)
    if done["type"] == "failed":
        assert (done["kind"], status) == ("unavailable", 1)
        pytest.skip(f"no ping from here: {done['message']}")
    rows = sorted(rows_of(record))
    assert (status, done["sent"], len(rows)) == (0, 3, 3)
    assert done["received"] == sum(row.status != STATUS["timeout"] for row in rows)
    assert [(row.sequence, row.phase, row.connection, row.bytes_sent) for row in rows] == [
        (number, 1, 0, 40) for number in (1, 2, 3)
    ]
    assert all(row.sent_ns <= row.received_ns for row in rows)


def test_a_line_that_is_no_ping_is_refused(pinging: Implementation, tmp_path: Path):
    line = {"type": "ping", "contract": VERSION, "address": "127.0.0.1", "record": str(tmp_path / "record")}
    for wrong in ("garbage", line | {"colour": "red"}, line | {"count": True}, line | {"contract": OTHER_VERSION}):
        failed, status = ping(pinging, wrong)
        assert (failed["type"], failed["kind"], status) == ("failed", "trial", 1)


def test_describe_prints_one_line(describing: Implementation):
    with describing.start("describe") as program:
        program.close_stdin()
        (line,) = program.rest()
        assert validated(line, "describe")["contract"] == VERSION
        assert program.status() == 0
