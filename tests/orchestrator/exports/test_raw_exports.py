"""A row for each sample: the columns of samples, with run and cell, in formats that other programs read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from scipy.stats import gmean

from orchestrator.errors import UsageError
from orchestrator.exports import excel
from orchestrator.exports.samples import COLUMNS
from orchestrator.record_layout import KINDS
from orchestrator.summarise import summarise
from tests.support.event_runs import FAR, a_stream_plan, a_stream_run
from tests.support.exported import BROKEN, SOUND, exported, sheets, workspace
from tests.support.runs import write_run

NAMES = [column.name for column in COLUMNS]
ROWS = 2 * 3 * (1000 + 50)  # stacks, blocks, requests with their warm-up
FEW = 2 * 3 * (200 + 10)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspace(tmp_path_factory.mktemp("workspace"))


@pytest.fixture(scope="module")
def dataset(root: Path) -> Path:
    path, _ = exported(root, SOUND, BROKEN, format="parquet", raw=True)
    return path


def test_parquet_is_a_dataset_in_partitions_by_run_and_cell(root: Path, dataset: Path) -> None:
    assert dataset == root / "exports" / f"{BROKEN}-and-1-more-raw"
    assert {path.name for path in dataset.iterdir()} == {f"run={SOUND}", f"run={BROKEN}", "_orch_export.json"}
    contents = ds.dataset(dataset, partitioning="hive", format="parquet")
    assert set(contents.schema.names) == set(NAMES)
    assert contents.count_rows() == ROWS + FEW
    assert contents.count_rows(filter=ds.field("run") == SOUND) == ROWS
    files = list(dataset.rglob("*.parquet"))
    assert len(files) == 2 * 3 + 2 * 3
    schemas = [pq.read_schema(file) for file in files]
    assert all(schema.equals(schemas[0], check_metadata=True) for schema in schemas)
    assert not {"run", "cell"} & set(schemas[0].names)
    assert schemas[0].field("latency_ms").metadata[b"unit"] == b"ms"


def test_rows_are_those_of_the_samples_files(root: Path, dataset: Path) -> None:
    frame = ds.dataset(dataset, partitioning="hive", format="parquet").to_table().to_pandas()
    mine = frame[frame["run"] == SOUND].sort_values(["cell", "trial", "sequence"])
    stored = pd.concat(
        pd.read_parquet(path, partitioning=None).assign(
            cell=path.parent.name.removeprefix("cell="), trial=int(path.stem)
        )
        for path in (root / "results" / SOUND / "samples").rglob("*.parquet")
    ).sort_values(["cell", "trial", "sequence"])
    for name in ("phase", "intended_ns", "sent_ns", "received_ns", "bytes_received", "status"):
        assert np.array_equal(mine[name], stored[name]), name
    assert set(mine["policy"]) == {"reuse"}
    assert set(mine["concurrency"]) == {1}
    assert mine["latency_ms"].to_numpy() == pytest.approx((mine["received_ns"] - mine["sent_ns"]).to_numpy() / 1e6)


def test_excel_holds_a_sheet_of_samples_for_each_protocol(root: Path) -> None:
    contents = sheets(exported(root, BROKEN, format="excel", raw=True, out=root / "raw.xlsx")[0])
    assert list(contents) == ["summary", "grpc", "rest"] or list(contents) == ["summary", "rest", "grpc"]
    head, *rows = contents["rest"]
    assert head == NAMES
    assert len(rows) == FEW // 2
    assert {row[head.index("valid")] for row in rows} == {False}


def test_more_rows_than_excel_has_are_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "MOST_ROWS", FEW // 2)
    with pytest.raises(UsageError, match=r"the sheet of \w+ would have more than the 630 rows") as refused:
        exported(root, BROKEN, format="excel", raw=True, out=root / "many.xlsx")
    assert "--format parquet" in (refused.value.hint or "")
    assert not (root / "many.xlsx").exists()


def test_a_dataset_is_replaced_by_force_alone_and_nothing_else_ever_is(root: Path, dataset: Path) -> None:
    with pytest.raises(UsageError, match="exists"):
        exported(root, BROKEN, format="parquet", raw=True, out=dataset)
    own = root / "own"
    own.mkdir()
    (own / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="holds no export"):
        exported(root, BROKEN, format="parquet", raw=True, out=own, force=True)
    assert (own / "thesis.txt").read_text() == "years of work"
    target = root / "replaced"
    for runs in ([SOUND], [BROKEN]):
        exported(root, *runs, format="parquet", raw=True, out=target, force=True)
    assert {path.name for path in target.iterdir()} == {f"run={BROKEN}", "_orch_export.json"}
    assert [path for path in root.iterdir() if path.name.startswith(".replaced")] == []


@pytest.mark.parametrize("is_far", [False, True])
def test_events_have_the_latency_that_the_report_gives(tmp_path: Path, is_far: bool) -> None:
    planned = {"placements": [FAR], "provider": "gcp"} if is_far else {}
    run = a_stream_run(a_stream_plan(blocks=3, **planned))
    write_run(run, tmp_path / "results" / "events")
    path, _ = exported(tmp_path, "events", format="csv", raw=True, out=tmp_path / "x.csv")
    frame = pd.read_csv(path)
    is_event = (frame["kind"] == KINDS.index("event")) & (frame["phase"] == 1)
    events = frame[is_event]
    assert frame[~is_event]["latency_ms"].isna().all()
    assert events["latency_ms"].notna().mean() > 0.99
    if not is_far:
        assert events["latency_ms"].to_numpy() == pytest.approx((events["received_ns"] - events["sender_ns"]) / 1e6)
    medians = events.groupby(["cell", "trial"])["latency_ms"].median().groupby("cell").apply(gmean)
    summary = summarise(run)
    assert {cell.details.stream.timed for cell in summary.cells if cell.details.stream} == {
        "gap" if is_far else "delivery"
    }
    for cell in summary.cells:
        assert cell.distribution is not None
        assert medians[cell.id] == pytest.approx(cell.distribution.median, rel=0.01)
