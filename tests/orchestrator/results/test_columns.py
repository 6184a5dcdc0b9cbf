"""What is read as samples, and what is derived of it."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.errors import InvalidMeasurement
from orchestrator.record_layout import ROW
from orchestrator.results import derive
from orchestrator.results.columns import read_columns
from orchestrator.results.manifest import BaselineRecord, TrialRecord
from orchestrator.results.turn_times import LIMIT, WAITED_LIMIT, TurnTime, disturbed, measured_outside, stolen_beside
from tests.support.summaries import PLAN


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"intended_ns": [2**63 - 1]}, "column intended_ns holds a time"),
        ({"sent_ns": [-1]}, "column sent_ns holds a time"),
        ({"sent_ns": [1, 5], "received_ns": [2, 4]}, r"ends \(received_ns\) before it begins \(sent_ns\)"),
        ({"intended_ns": [5], "received_ns": [4]}, r"before it begins \(intended_ns\)"),
        ({"sender_ns": [-(2**63)], "received_ns": [4]}, "column sender_ns holds a time"),
    ],
)
def test_times_that_cannot_be_are_refused(tmp_path: Path, columns: dict[str, list[int]], words: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InvalidMeasurement, match=words):
        read_columns(path, list(columns))


def test_small_numbers_take_little_memory_and_large_ones_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    numbers = {"phase": [0, 1], "status": [0, 127], "kind": [0, 0], "parent": [0, 0], "sequence": [1, 2**40]}
    pq.write_table(pa.table(numbers), path)
    columns = read_columns(path, ["phase", "status", "sequence"])
    assert {name: column.itemsize for name, column in columns.items()} == {"phase": 1, "status": 1, "sequence": 8}
    pq.write_table(pa.table(numbers | {"status": [300, -129]}), path)
    assert read_columns(path, ["status"])["status"].tolist() == [300, -129]


MS = 1_000_000
TURN = TurnTime(requests=90, warm_up=3, begin_ns=0, end_ns=50 * MS, cpu_s=0.02, waited_s=0.001, stolen_s=0.0)


@pytest.mark.parametrize(("name", "limit"), [("waited_s", WAITED_LIMIT), ("stolen_s", LIMIT)])
def test_a_turn_that_lost_more_than_the_limit_beyond_the_middle_one_is_disturbed(name: str, limit: float) -> None:
    middle, beyond_s = getattr(TURN, name), limit * TURN.length_s
    lost = [0.0, middle + beyond_s + 1e-4, middle, middle + beyond_s - 1e-4, middle]
    assert disturbed([replace(TURN, **{name: each}) for each in lost]) == (False, True, False, False, False)


def test_what_all_turns_lose_alike_disturbs_none() -> None:
    assert not any(disturbed([replace(TURN, waited_s=0.03, stolen_s=0.02)] * 5))


def test_what_most_turns_of_a_cell_lost_is_compared_with_the_quiet_quarter_of_all_cells() -> None:
    unlucky = [replace(TURN, stolen_s=each) for each in (0.0, 0.01, 0.01, 0.01, 0.02)]
    assert disturbed(unlucky) == (False, False, False, False, True)
    stolen = stolen_beside([*unlucky, *[TURN] * 3])
    assert stolen == 0.0
    assert disturbed(unlucky, stolen) == (False, True, True, True, True)
    assert not any(disturbed(unlucky[1:], stolen)), "a trial keeps some turns"
    assert stolen_beside([*unlucky, *unlucky]) == pytest.approx(0.2)


def test_what_is_not_known_disturbs_none() -> None:
    assert not any(disturbed([replace(TURN, waited_s=None, stolen_s=None)] * 3))
    assert disturbed([]) == ()


@pytest.mark.parametrize(
    ("sent_ns", "phase", "outside"),
    [(0, 1, 0), (50 * MS, 1, 0), (51 * MS, 1, 1), (-1, 1, 1), (51 * MS, 0, 0), (100 * MS, 1, 0)],
)
def test_measured_rows_outside_of_every_turn_are_counted(sent_ns: int, phase: int, outside: int) -> None:
    turns = [TURN, replace(TURN, begin_ns=100 * MS, end_ns=150 * MS)]
    row = ROW.pack(1, phase, 0, sent_ns, sent_ns, sent_ns + 10, -1, 1, 1, 0, 0, 0, 0, 0)
    assert measured_outside(row, turns) == outside


BEGIN = {"event": "begin", "run_id": "r", "plan_id": "p", "orch_version": "1", "command": ["orch", "run"], "at": "now"}


def trial(index: int, block: int, attempt: int = 0) -> dict[str, object]:
    record = TrialRecord(
        index=index,
        block=block,
        cell="c",
        attempt=attempt,
        outcome="ok",
        started_wall_ns=0,
        ended_wall_ns=0,
        overhead_s=0.0,
    )
    return {"event": "trial", "trial": asdict(record)}


def baseline(block: int, attempt: int) -> dict[str, object]:
    record = BaselineRecord(
        kind="ping",
        placement="local",
        block=block,
        moment="before",
        requester="local",
        method="icmp-raw",
        samples=f"b{block}-a{attempt}",
        started_wall_ns=0,
    )
    return {"event": "baseline", "attempt": attempt, "baseline": asdict(record)}


def test_a_block_that_was_begun_again_forgets_its_earlier_attempt():
    first = [BEGIN, {"event": "block", "block": 0, "attempt": 0}, baseline(0, 0), trial(0, 0)]
    assert derive.read(first).samples == {"b0-a0"}
    again = [*first, {"event": "block", "block": 0, "attempt": 1}, baseline(0, 1)]
    assert derive.read(again).trials == []
    assert derive.read(again).samples == {"b0-a1"}


def test_the_manifest_lists_only_files_that_count():
    events = [BEGIN, baseline(0, 0), *({"event": "file", "path": p, "sha256": "x"} for p in ("b0-a0", "b0-a9"))]
    assert derive.manifest(derive.read(events), PLAN).files == {"b0-a0": "x"}
