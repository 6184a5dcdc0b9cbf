"""The median of a trial that just ended, as the journal keeps it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orchestrator.evidence.trial_median import trial_median
from orchestrator.record_layout import COLUMNS
from orchestrator.results.turn_times import TrialMedian
from services.python.contract.lines import Load
from services.python.load.record import HEADER
from tests.support.plans import plan

CELL = plan("tcp").cells[0]
MS = 10**6


def record(path: Path, latencies_ms: list[float], *, failed: int = 0, late_ms: float = 0.0) -> Path:
    """A raw record of one warm-up request of a second, then of these latencies; the last `failed` got no right reply."""
    rows = [dict.fromkeys(COLUMNS, 0) | {"phase": 0, "received_ns": 1000 * MS}]
    for number, latency_ms in enumerate(latencies_ms):
        sent = (2000 + number) * MS
        rows.append(
            dict.fromkeys(COLUMNS, 0)
            | {
                "phase": 1,
                "intended_ns": sent - int(late_ms * MS),
                "sent_ns": sent,
                "received_ns": sent + int(latency_ms * MS),
                "status": int(number >= len(latencies_ms) - failed),
            }
        )
    for number, row in enumerate(rows, start=1):
        row["sequence"] = number
    table = np.array([[row[name] for name in COLUMNS] for row in rows], dtype="<i8")
    path.write_bytes(HEADER + table.tobytes())
    return path


def test_it_is_of_the_measured_phase_alone(tmp_path):
    assert trial_median(CELL, [record(tmp_path / "r", [1.0, 3.0, 2.0])]) == TrialMedian(median=2.0 * MS)


def test_a_failed_request_is_slower_than_every_reply(tmp_path):
    assert trial_median(CELL, [record(tmp_path / "r", [1.0, 2.0, 3.0, 0.1, 0.1], failed=2)]) == TrialMedian(
        median=3.0 * MS
    )


@pytest.mark.parametrize(("rate_per_s", "expected_ms"), [(None, 2.0), (100.0, 7.0)])
def test_an_open_loop_counts_from_when_a_request_was_due(tmp_path, rate_per_s, expected_ms):
    cell = replace(CELL, load=Load(requests=3, rate_per_s=rate_per_s))
    assert trial_median(cell, [record(tmp_path / "r", [2.0, 2.0, 2.0], late_ms=5.0)]) == TrialMedian(
        median=expected_ms * MS
    )
