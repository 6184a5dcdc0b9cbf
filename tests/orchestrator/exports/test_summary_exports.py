"""A row for each cell, in every format: the report's figures, and what its checks say of them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from orchestrator.cli.results import report
from orchestrator.experiment.model.factors import FACTORS
from orchestrator.exports.cell_columns import COLUMNS
from orchestrator.report.markdown import markdown
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from tests.support.exported import BROKEN, EVIL, FORMULA, SOUND, exported, sheets, standing_in, workspace

NAMES = [column.name for column in COLUMNS]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspace(tmp_path_factory.mktemp("workspace"))


@pytest.fixture(scope="module")
def of_far(root: Path) -> list[dict]:
    """The cells of the broken run as JSON."""
    path, _ = exported(root, BROKEN, format="json", out=root / "far.json")
    return json.loads(path.read_text())["cells"]


def test_figures_are_those_that_the_report_is_made_from(root: Path) -> None:
    path, _ = exported(root, SOUND, format="json", out=root / "sound.json")
    cells = json.loads(path.read_text())["cells"]
    with standing_in(root):
        report.report(SOUND)
    stored = json.loads((root / "results" / SOUND / "summary.json").read_text())["cells"]
    assert len(cells) == len(stored) == 2
    for mine, its in zip(cells, stored, strict=True):
        for name in ("median", "p90", "p95", "p99", "mean", "minimum", "maximum", "sd", "iqr"):
            assert mine[f"{name}_ms"] == its["distribution"][name], name
        assert [mine["median_low_ms"], mine["median_high_ms"]] == its["median_interval"]
        assert mine["throughput_per_s"] == its["throughput_per_s"]
        assert mine["requests"] == its["counts"]["requests"]
        assert mine["responder_cpu_s"] == its["means"]["responder_cpu"]["value"]
        assert [mine["wire_bytes_sent"], mine["wire_bytes_received"]] == its["sizes"]["wire"]
        assert mine["tcp_floor_ms"] == its["floors"]["tcp"]
        assert {f.name: mine[f.name] for f in FACTORS if f.name in its["factors"]} == its["factors"]


def test_json_is_strict_and_says_what_its_columns_mean(root: Path) -> None:
    path, _ = exported(root, SOUND, BROKEN, format="json", out=root / "two.json")

    def refuse(name: str) -> None:
        raise AssertionError(name)

    document = json.loads(path.read_text(), parse_constant=refuse)
    assert [column["name"] for column in document["columns"]] == NAMES
    assert all(column["meaning"] for column in document["columns"])
    assert {c["unit"] for c in document["columns"] if c["name"].endswith("_ms")} == {"ms"}
    assert [run["run"] for run in document["runs"]] == [SOUND, BROKEN]
    assert [list(row) for row in document["cells"]] == [NAMES] * 4


def test_parquet_is_one_file_with_units_in_its_schema(root: Path, of_far: list[dict]) -> None:
    path, _ = exported(root, BROKEN, format="parquet", out=root / "far.parquet")
    table = pq.read_table(path)
    assert table.to_pylist() == of_far
    assert table.schema.field("median_ms").metadata[b"unit"] == b"ms"
    (run,) = json.loads(table.schema.metadata[b"orch_runs"])
    assert "floor" in run["failed_checks"]


def test_excel_has_a_sheet_of_all_cells_and_one_for_each_protocol(root: Path, of_far: list[dict]) -> None:
    contents = sheets(exported(root, BROKEN, format="excel", out=root / "far.xlsx")[0])
    assert list(contents) == ["summary", "rest", "grpc"]
    about = {row[0]: row[1] for row in contents["summary"] if len(row) == 2}
    assert "floor" in about["failed_checks"]
    assert "invalid" in about["invalid"]
    head, *rows = contents["grpc"]
    assert head == NAMES
    assert len(rows) == 1
    row = dict(zip(head, rows[0], strict=False))
    (grpc,) = (cell for cell in of_far if cell["protocol"] == "grpc")
    assert row["median_ms"] == pytest.approx(grpc["median_ms"], rel=1e-12)
    assert row["valid"] is True
    assert row["stack"] == grpc["stack"]


def test_excel_writes_a_formula_in_a_name_as_text(root: Path) -> None:
    contents = sheets(exported(root, FORMULA, format="excel", out=root / "f.xlsx")[0])
    assert ["experiment", EVIL] in contents["summary"]


def test_markdown_has_the_summary_of_each_run(root: Path) -> None:
    path, _ = exported(root, SOUND, BROKEN, format="markdown", out=root / "two.md")
    summaries = (summarise(RunFolder.open(run, root=root / "results")) for run in (SOUND, BROKEN))
    assert path.read_text(encoding="utf-8") == "\n".join(map(markdown, summaries))


def test_without_out_it_lies_under_exports_and_the_same_run_gives_the_same_bytes(root: Path) -> None:
    first, _ = exported(root, SOUND, format="excel")
    assert first == root / "exports" / f"{SOUND}.xlsx"
    before = first.read_bytes()
    again, _ = exported(root, SOUND, format="excel", force=True)
    assert again.read_bytes() == before
    several, _ = exported(root, SOUND, BROKEN, format="markdown")
    assert several == root / "exports" / f"{BROKEN}-and-1-more.md"
