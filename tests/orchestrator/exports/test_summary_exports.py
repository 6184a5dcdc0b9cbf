"""A row for each cell, in every format: the report's figures, and what its checks say of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from orchestrator.cli.results import export, report
from orchestrator.experiment.model.factors import FACTORS
from orchestrator.exports.cell_columns import COLUMNS
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from tests.support.event_runs import a_stream_run
from tests.support.exported import BROKEN, EVIL, FORMULA, SOUND, exported, sheets, standing_in, workspace
from tests.support.runs import write_run

NAMES = [column.name for column in COLUMNS]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspace(tmp_path_factory.mktemp("workspace"))


@pytest.fixture(scope="module")
def of_far(root: Path) -> list[dict]:
    """The cells of the broken run as JSON."""
    path, _ = exported(root, BROKEN, format="json", out=root / "far.json")
    return json.loads(path.read_text())["cells"]


def test_every_factor_has_a_column_of_its_name_and_no_name_stands_twice() -> None:
    assert {factor.name for factor in FACTORS} <= set(NAMES)
    assert len(set(NAMES)) == len(NAMES)


def test_figures_are_those_that_the_report_is_made_from(root: Path) -> None:
    path, _ = exported(root, SOUND, format="json", out=root / "sound.json")
    cells = json.loads(path.read_text())["cells"]
    with standing_in(root):
        report.report([SOUND])
    stored = json.loads((root / "results" / SOUND / "summary.json").read_text())["cells"]
    assert len(cells) == len(stored) == 2
    for mine, its in zip(cells, stored, strict=True):
        for name in ("median", "p90", "p95", "p99", "mean", "minimum", "maximum", "sd", "iqr"):
            assert mine[f"{name}_ms"] == its["distribution"][name], name
        assert [mine["median_low_ms"], mine["median_high_ms"]] == its["median_interval"]
        assert mine["throughput_per_s"] == its["throughput_per_s"]
        assert mine["requests"] == its["requests"]
        assert mine["responder_cpu_s"] == its["costs"]["responder_cpu"]["value"]
        assert [mine["wire_bytes_sent"], mine["wire_bytes_received"]] == its["wire_bytes"]
        assert mine["tcp_floor_ms"] == its["tcp_floor"]
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
    assert {row["statistic"] for row in document["comparisons"]} == {"median", "p99", "throughput"}


def test_an_invalid_cell_is_marked_in_its_row_and_only_there(of_far: list[dict]) -> None:
    by_protocol = {row["protocol"]: row for row in of_far}
    assert by_protocol["rest"]["valid"] is False
    assert "floor" in by_protocol["rest"]["failed_checks"]
    assert by_protocol["grpc"]["valid"] is True
    assert by_protocol["grpc"]["failed_checks"] == ""
    assert "floor" in by_protocol["grpc"]["run_failed_checks"]


def test_an_emulated_distance_is_a_column(root: Path, of_far: list[dict]) -> None:
    assert {(row["distance"], row["emulated_rtt_ms"]) for row in of_far} == {("emulated", 30.0)}
    near = json.loads(exported(root, SOUND, out=root / "near.json")[0].read_text())["cells"]
    assert {(row["distance"], row["emulated_rtt_ms"]) for row in near} == {("none", None)}


def test_csv_holds_the_same_figures(root: Path, of_far: list[dict]) -> None:
    path, said = exported(root, BROKEN, format="csv", out=root / "far.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == NAMES
    assert [float(row["median_ms"]) if row["median_ms"] else None for row in rows] == [r["median_ms"] for r in of_far]
    assert [row["valid"] for row in rows] == ["false", "true"]
    assert "invalid" in said


def test_text_that_begins_as_a_formula_is_harmless_in_csv_and_stays_itself_elsewhere(root: Path) -> None:
    rows = pd.read_csv(exported(root, FORMULA, format="csv", out=root / "f.csv")[0])
    assert set(rows["experiment"]) == {f"'{EVIL}"}
    stored = pq.read_table(exported(root, FORMULA, out=root / "f.parquet")[0]).to_pylist()
    assert {row["experiment"] for row in stored} == {EVIL}


def test_parquet_is_one_file_with_units_in_its_schema(root: Path, of_far: list[dict]) -> None:
    path, _ = exported(root, BROKEN, format="parquet", out=root / "far.parquet")
    table = pq.read_table(path)
    assert table.to_pylist() == of_far
    assert table.schema.field("median_ms").metadata[b"unit"] == b"ms"
    (run,) = json.loads(table.schema.metadata[b"orch_runs"])
    assert "floor" in run["failed_checks"]


def test_excel_has_a_sheet_of_all_cells_and_one_for_each_protocol(root: Path, of_far: list[dict]) -> None:
    found = sheets(exported(root, BROKEN, format="excel", out=root / "far.xlsx")[0])
    assert list(found) == ["summary", "rest", "grpc"]
    about = {row[0]: row[1] for row in found["summary"] if len(row) == 2}
    assert "floor" in about["failed_checks"]
    assert "invalid" in about["invalid"]
    head, *rows = found["grpc"]
    assert head == NAMES
    assert len(rows) == 1
    row = dict(zip(head, rows[0], strict=False))
    (grpc,) = (cell for cell in of_far if cell["protocol"] == "grpc")
    assert row["median_ms"] == pytest.approx(grpc["median_ms"], rel=1e-12)
    assert row["valid"] is True
    assert row["stack"] == grpc["stack"]


def test_excel_writes_a_formula_in_a_name_as_text(root: Path) -> None:
    found = sheets(exported(root, FORMULA, format="excel", out=root / "f.xlsx")[0])
    assert ["experiment", EVIL] in found["summary"]


def test_markdown_has_answer_and_checks_above_one_table(root: Path) -> None:
    path, _ = exported(root, BROKEN, format="markdown", out=root / "far.md")
    text = path.read_text(encoding="utf-8")
    above, _, table = text.partition("\n| stack |")
    assert "Question: Which one is quicker?" in above
    assert "Failed: floor" in above
    assert "invalid" in above
    lines = [line for line in f"| stack |{table}".splitlines() if line.startswith("|")]
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1
    assert "emulated round trip, ms" in lines[0]
    assert "| 30.0 |" in lines[2]
    assert "| NO: floor, " in lines[2]
    assert lines[3].endswith("| yes |")


def test_markdown_of_foreign_text_keeps_its_table(root: Path) -> None:
    text = exported(root, FORMULA, format="markdown", out=root / "f.md")[0].read_text(encoding="utf-8")
    assert "Question: a &#124; b &#60;i&#62;&#92;u202e?" in text
    assert "\u202e" not in text


def test_html_of_one_run_is_its_report(root: Path) -> None:
    path, _ = exported(root, SOUND, format="html", out=root / "one.html")
    with standing_in(root):
        report.report([SOUND], out=root / "report.html")
    assert path.read_text() == (root / "report.html").read_text()


def test_html_of_several_runs_is_one_page_with_links_to_reports_that_are_there(root: Path) -> None:
    with standing_in(root):
        report.report([SOUND])
    path, _ = exported(root, SOUND, BROKEN, FORMULA, format="html", out=root / "pages" / "all.html")
    text = path.read_text(encoding="utf-8")
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
    assert f"{SOUND}.html" in text.partition('href="../reports/')[2].partition('"')[0]
    assert f"<code>orch report {BROKEN}</code>" in text
    assert "Failed: floor" in text
    assert "a | b &lt;i&gt;" in text
    assert "\u202e" not in text
    assert text.count("<tr>") == 1 + 6


def test_runs_of_different_experiments_share_a_table_that_says_so(root: Path) -> None:
    path, said = exported(root, SOUND, BROKEN, format="csv", out=root / "both.csv")
    assert list(pd.read_csv(path)["experiment"]) == ["synthetic", "synthetic", "far", "far"]
    assert "the runs are of 2 experiments (synthetic, far)" in said


def test_without_out_it_lies_under_exports_and_the_same_run_gives_the_same_bytes(root: Path) -> None:
    first, _ = exported(root, SOUND, format="excel")
    assert first == root / "exports" / f"{SOUND}.xlsx"
    before = first.read_bytes()
    again, _ = exported(root, SOUND, format="excel", force=True)
    assert again.read_bytes() == before
    several, _ = exported(root, SOUND, BROKEN, format="markdown")
    assert several == root / "exports" / f"{BROKEN}-and-1-more.md"


def test_json_on_stdout_says_what_was_written(root: Path) -> None:
    with standing_in(root) as (out, _):
        export.export([BROKEN], format="csv", out=Path("x.csv"), as_json=True)
    document = json.loads(out.getvalue())
    assert (document["export"], document["format"], document["of"], document["rows"]) == ("x.csv", "csv", "cells", 2)
    assert "floor" in document["runs"][0]["failed_checks"]


def test_summaries_of_other_kinds_of_work_are_exported(tmp_path: Path) -> None:
    """A stream's latencies are of its events: the column `timed` says so."""
    write_run(a_stream_run(), tmp_path / "results" / "streams")
    path, _ = exported(tmp_path, "streams", format="json", out=tmp_path / "s.json")
    rows = json.loads(path.read_text())["cells"]
    summary = summarise(RunFolder.open("streams", root=tmp_path / "results"))
    assert [row["timed"] for row in rows] == [cell.stream.timed for cell in summary.cells if cell.stream]
    assert all(row["events_delivered"] > 0 for row in rows)
