"""Files of a run folder that are larger than orch writes, or say so, are refused before they are read."""

from __future__ import annotations

import resource
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchestrator.errors import InvalidMeasurement, OrchError
from orchestrator.results import sizes
from orchestrator.results.columns import read_columns
from orchestrator.results.folder import RunFolder
from orchestrator.results.verification import verify
from tests.support.folders import PLAN, finished, killed, samples
from tests.support.hosts import rows as rows_of_record
from tests.support.runs import a_plan, a_run

VAST = 1 << 42


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "results"


def sparse(path: Path) -> None:
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        file.truncate(VAST)


@pytest.mark.parametrize(
    "name", ["plan.json", "journal.jsonl", "manifest.json", samples(0, 1), f"superseded/{samples(0)}"]
)
@pytest.mark.parametrize("kind", ["ours", "from elsewhere"])
def test_a_file_of_any_size_is_refused_by_its_size(root, tmp_path, name, kind):
    path = finished(root).path
    if kind != "ours":
        path = shutil.copytree(path, tmp_path / "sent" / path.name)
    sparse(path / name)
    with pytest.raises(OrchError, match=rf"{Path(name).name}.*larger than"):
        verify(RunFolder.open(path, root=root))


def test_a_record_that_waits_is_refused_by_its_size(root, tmp_path):
    path = shutil.copytree(killed(root).path, tmp_path / "sent" / "x")
    sparse(next((path / "staging").rglob("*.timings")))
    with pytest.raises(InvalidMeasurement, match="larger than any record"):
        RunFolder.open(path, root=root).manifest()


def test_rows_that_cost_no_bytes_are_counted_before_they_are_decoded(tmp_path):
    path = tmp_path / "a.parquet"
    rows = 900_000
    pq.write_table(pa.table({"a": np.zeros(rows, dtype=np.int64)}), path, compression="zstd")
    assert path.stat().st_size < 100_000
    with pytest.raises(InvalidMeasurement, match="declares 900,000 rows; the plan allows 1,000"):
        read_columns(path, ["a"], sizes.Held(most_rows=1_000))
    assert len(read_columns(path, ["a"], sizes.Held(most_rows=rows))["a"]) == rows


def test_columns_that_are_not_asked_for_are_counted_too(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({f"c{n}": [1] for n in range(100)}), path)
    with pytest.raises(InvalidMeasurement, match="declares 100 columns"):
        read_columns(path, ["c1"], sizes.Held(most_rows=10))
    pq.write_table(pa.table({"a": [1], "b": ["x" * (64 << 20)]}), path, compression="zstd")
    with pytest.raises(InvalidMeasurement, match="bytes; 10 rows never need as many"):
        read_columns(path, ["a"], sizes.Held(most_rows=10))


def test_a_text_that_stands_in_every_row_is_refused_before_it_is_copied(tmp_path):
    path = tmp_path / "a.parquet"
    text = pa.DictionaryArray.from_arrays(np.zeros(100_000, dtype=np.int32), pa.array(["x" * (1 << 20)]))
    pq.write_table(pa.table({"a": text}), path, compression="zstd")
    with pytest.raises(InvalidMeasurement, match="column a holds more than orch writes"):
        read_columns(path, ["a"], sizes.Held(most_rows=100_000))


def test_the_most_rows_are_what_the_plan_lets_a_requester_ask():
    cell = PLAN.cells[0]
    load = replace(cell.load, requests=1_000, duration_s=None, rate_per_s=None, concurrency=4)
    warmup = replace(cell.warmup, requests=50, at_least_s=0.0)
    assert sizes._rows_of(replace(cell, load=load, warmup=warmup)) == 1_054
    open_loop = replace(load, requests=None, duration_s=10.0, rate_per_s=100.0)
    assert sizes._rows_of(replace(cell, load=open_loop, warmup=warmup)) == 3_054
    endless = replace(load, requests=None, duration_s=604_800.0)
    assert sizes._rows_of(replace(cell, load=endless, warmup=warmup)) == (sizes.RECORD - 512) // 112


def test_a_task_has_a_row_for_itself_and_one_for_each_call():
    plan = a_plan(task=3)
    (call, *_), (task, *_) = a_plan().cells, plan.cells
    assert sizes._rows_of(task) == 4 * sizes._rows_of(call)
    trial = a_run(plan).stored.trials[0]
    (path,) = (part.samples for part in trial.requesters)
    assert sizes.held(plan, [trial], [])[path] == sizes.Held(most_rows=4 * 1050 + 4, kind="task", parts=3)


def test_a_trial_has_no_more_rows_than_its_requester_says_that_it_made(root):
    folder = finished(root)
    state = folder.journal_state()
    (trial,) = state.trials
    (part,) = trial.requesters
    endless = replace(PLAN.cells[0].load, requests=None, duration_s=2.0)
    plan = replace(PLAN, cells=tuple(replace(cell, load=endless) for cell in PLAN.cells))
    assert sizes._rows_of(plan.cells[0]) > 500_000
    assert sizes.held(plan, [trial], [])[part.samples].most_rows == part.done.requests + 1_000


def test_few_bytes_hold_no_more_rows_than_measured_times_fit_into(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": np.zeros(3_000_000, dtype=np.int64)}), path, compression="zstd")
    with pytest.raises(InvalidMeasurement, match=r"3,000,000 rows in [0-9,]+ bytes; measured times take more"):
        read_columns(path, ["a"], sizes.Held(most_rows=1 << 30))


def test_the_files_of_a_run_together_hold_no_more_rows_than_their_bytes_can(root, monkeypatch):
    folder = finished(root)
    folder.samples(samples(0, 1), ["sequence"])
    monkeypatch.setattr(sizes, "FREE_ROWS", 5)
    monkeypatch.setitem(folder._rows_for_nothing, "another", 6)
    with pytest.raises(InvalidMeasurement, match="more rows than measured times fit into"):
        folder.samples(samples(0, 1), ["sequence"])


def test_a_record_that_waits_is_read_no_further_than_it_was_written(root, tmp_path):
    path = shutil.copytree(killed(root).path, tmp_path / "sent" / "x")
    record = next((path / "staging").rglob("*.timings"))
    with record.open("r+b") as file:
        file.truncate(512 + 112 * (1 << 25))  # a hole: it takes no room on the disk
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    folder = RunFolder.open(path, root=root)
    assert folder.samples(samples(0), ["sequence"])["sequence"].size == 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 19  # KiB


def test_a_record_that_waits_holds_no_more_rows_than_its_trial_can_have(root, tmp_path):
    path = shutil.copytree(killed(root).path, tmp_path / "sent" / "x")
    next((path / "staging").rglob("*.timings")).write_bytes(rows_of_record(1_011))
    with pytest.raises(InvalidMeasurement, match="holds more than 56 rows"):
        RunFolder.open(path, root=root).manifest()
