"""The median of a trial that just ended, as the journal keeps it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orchestrator.cli.runs import verify
from orchestrator.errors import InvalidMeasurement
from orchestrator.evidence.trial_median import differing, median_ns
from orchestrator.experiment.plan import plan as p
from orchestrator.record_layout import COLUMNS
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from services.python.contract.lines import Load
from services.python.load.record import HEADER
from tests.support.plans import plan
from tests.support.runs import a_run, write_run

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
    assert median_ns(CELL, [record(tmp_path / "r", [1.0, 3.0, 2.0])]) == 2.0 * MS


def test_all_requesters_of_a_trial_count_as_one(tmp_path):
    records = [record(tmp_path / "a", [1.0, 2.0]), record(tmp_path / "b", [3.0, 4.0, 5.0])]
    assert median_ns(CELL, records) == 3.0 * MS


def test_a_failed_request_is_slower_than_every_reply(tmp_path):
    assert median_ns(CELL, [record(tmp_path / "r", [1.0, 2.0, 3.0, 0.1, 0.1], failed=2)]) == 3.0 * MS


def test_where_most_requests_failed_there_is_no_figure(tmp_path):
    assert median_ns(CELL, [record(tmp_path / "r", [1.0, 0.1, 0.1], failed=2)]) is None


@pytest.mark.parametrize(("rate_per_s", "expected_ms"), [(None, 2.0), (100.0, 7.0)])
def test_an_open_loop_counts_from_when_a_request_was_due(tmp_path, rate_per_s, expected_ms):
    cell = replace(CELL, load=Load(requests=3, rate_per_s=rate_per_s))
    assert median_ns(cell, [record(tmp_path / "r", [2.0, 2.0, 2.0], late_ms=5.0)]) == expected_ms * MS


def test_of_several_operations_at_once_it_would_be_no_figure(tmp_path):
    assert median_ns(replace(CELL, mixed=2), [record(tmp_path / "r", [2.0])]) is None


# ---- held against the samples


@pytest.fixture(scope="module", params=[None, 300.0], ids=["closed loop", "open loop"])
def made(request):
    """A run, and the medians that a journal would have of it."""
    load = p.Load(concurrency=4, requests=200, rate_per_s=request.param) if request.param else p.Load(requests=200)
    run = a_run(load=load)
    trials = [trial for cell in summarise(run).cells for trial in cell.trials]
    return run, {(trial.index, 0): trial.median * 1e6 for trial in trials}


def test_medians_in_a_journal_are_those_of_analysis(made):
    run, medians = made
    assert len(medians) == 10
    assert list(differing(run, medians)) == []
    assert list(differing(run, {})) == []  # of a run of an earlier orch


def test_a_forged_median_is_found_and_named(made):
    run, medians = made
    (found,) = differing(run, medians | {(3, 0): medians[3, 0] * 1.001})
    assert "(trial 4)" in found


def test_orch_verify_finds_a_forged_median_in_a_journal_that_was_chained_anew(made, tmp_path, monkeypatch):
    run, medians = made
    folder = RunFolder.open(write_run(run, tmp_path / "results" / "run"), root=tmp_path / "results")
    verify._verify_medians(folder)  # that of an earlier orch, whose journal has none
    state = folder.journal_state()
    state.medians |= medians | {(0, 0): 1000.0}
    monkeypatch.setattr(RunFolder, "journal_state", lambda _self: state)
    with pytest.raises(
        InvalidMeasurement, match=r"journal.jsonl: the median of block 1 \(trial 1\) is 1 µs, and of its"
    ):
        verify._verify_medians(folder)
