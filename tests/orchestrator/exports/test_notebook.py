"""`import orch`: a stored run as data frames, whose figures are the report's; and the example notebook, run as it stands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import orch
from orchestrator.between_runs.across import compare_runs, compare_within
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.exports.cell_columns import COLUMNS, cell_table
from orchestrator.exports.samples import COLUMNS as SAMPLE_COLUMNS
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.wording.answer import answer
from tests.support.exported import BROKEN, FORMULA, SOUND, standing_in, workspace
from tests.support.folders import begun
from tests.support.runs import a_run, write_run

ROOT = Path(__file__).parents[3]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
SECOND = "20261121-050000-four-dddd"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = workspace(tmp_path_factory.mktemp("workspace"))
    write_run(a_run(blocks=3, seed=2), folder / "results" / SECOND)
    return folder


@pytest.fixture(scope="module")
def run(root: Path) -> orch.Run:
    return orch.load(SOUND, root)


def test_cells_are_those_of_the_report(root: Path, run: orch.Run) -> None:
    summary = summarise(RunFolder.open(SOUND, root=root / "results"))
    assert list(run.cells) == [column.name for column in COLUMNS]
    for of, (_, mine) in zip(cell_table(summary).rows, run.cells.iterrows(), strict=True):
        known = {name: value for name, value in of.items() if value is not None}
        assert {name: mine[name] for name in known} == known
    assert run.cells["median_ms"].tolist() == [cell.distribution.median for cell in summary.cells if cell.distribution]
    assert run.answer.splitlines() == list(answer(summary).sentences)
    assert run.question == "Which one is quicker?"


def test_what_is_printed_of_a_run_acts_on_no_terminal(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = orch.load(SOUND, root)
    hostile = "\x1b]0;x\x07 \u202e"
    cells = tuple(replace(cell, stack_label=hostile) for cell in run.summary.cells)
    found = replace(run.summary, question=hostile, cells=cells, comparisons=())
    monkeypatch.setitem(run.__dict__, "summary", found)
    assert run.question.isprintable()
    assert all(line.isprintable() for line in run.answer.splitlines())
    assert "u202e" in run.answer


def test_what_cannot_be_compared_is_said(run: orch.Run) -> None:
    with pytest.raises(UsageError, match="no run that was loaded"):
        run.compare("latest")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no statistic 'p98'"):
        run.compare(statistic="p98")  # type: ignore[arg-type]


def test_percentiles_can_be_made_again_from_samples(run: orch.Run) -> None:
    """A cell's median is the geometric mean of its trials'."""
    assert list(run.samples) == [column.name for column in SAMPLE_COLUMNS]
    measured = run.samples[run.samples["phase"] == 1]
    by_trial = measured.groupby(["cell", "trial"], observed=True)["latency_ms"].median()
    medians = np.exp(np.log(by_trial).groupby("cell", observed=True).mean())
    expected = run.cells.set_index("cell")["median_ms"]
    assert len(medians) == 2
    for cell, median in medians.items():
        assert median == pytest.approx(expected[cell], rel=1e-9)
    assert len(measured) == run.cells["requests"].sum()


def test_units_and_meanings_go_with_a_frame(run: orch.Run) -> None:
    assert run.cells.attrs["units"]["median_ms"] == "ms"
    assert run.cells.attrs["units"]["throughput_per_s"] == "1/s"
    assert run.samples.attrs["units"]["sent_ns"] == "ns"
    assert run.cells.attrs["meanings"]["valid"]


def test_checks_and_floor_are_frames(run: orch.Run) -> None:
    assert set(run.checks["check"]) == {check.name for check in run.summary.checks}
    assert set(run.floor["floor"]) == {"ping", "tcp"}
    assert run.floor["median_ms"].tolist() == [f.distribution.median for f in run.summary.floors if f.distribution]


def test_stacks_and_runs_are_compared_as_on_the_command_line(root: Path, run: orch.Run) -> None:
    within = compare_within(run.summary, "p99")
    assert run.compare(statistic="p99")["ratio"].tolist() == [row.ratio for row in within.rows]
    other = orch.load(SECOND, root)
    frame = other.compare(run)
    between = compare_runs(other.summary, run.summary, "median")
    assert frame["verdict"].tolist() == [row.verdict for row in between.rows]
    assert frame["ratio"].tolist() == [row.ratio for row in between.rows]
    with pytest.raises(UsageError, match="given twice"):
        run.compare(run)


def test_nothing_is_read_before_it_is_asked_for(root: Path, tmp_path: Path) -> None:
    write_run(a_run(blocks=2), tmp_path / "results" / "x")
    found = orch.load("x", tmp_path)
    for file in (tmp_path / "results" / "x" / "samples").rglob("*.parquet"):
        file.write_bytes(b"")
    assert repr(found) == "<orch run x>"
    with pytest.raises(InvalidMeasurement) as damaged:
        found.samples.head()
    assert damaged.value.__notes__ == [damaged.value.hint]


def test_a_run_with_an_invalid_cell_warns_once_it_is_read(root: Path) -> None:
    found = orch.load(BROKEN, root)
    with pytest.warns(orch.RunWarning, match=r"The numbers of 1 of 2 cells are invalid: .*floor"):
        assert found.cells["valid"].tolist() == [False, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found.checks["verdict"].eq("fail").any()


def test_latest_is_the_default_and_what_is_not_there_is_said_with_what_to_do(root: Path) -> None:
    assert orch.load(folder=root).id == SECOND
    with pytest.raises(UsageError, match="no run 'nosuch'") as missing:
        orch.load("nosuch", root)
    assert missing.value.__notes__


def test_runs_lists_a_folder_without_judging(root: Path, tmp_path: Path) -> None:
    frame = orch.runs(root)
    assert frame["run"].tolist() == [SOUND, BROKEN, FORMULA, SECOND]
    assert frame["state"].tolist() == ["complete"] * 4
    assert frame["trials"].tolist() == [6] * 4
    assert orch.runs(tmp_path).empty
    going = begun(tmp_path / "results")
    write_run(a_run(blocks=2), tmp_path / "results" / "z")
    (tmp_path / "results" / "z" / "plan.json").write_text("{}")
    frame = orch.runs(tmp_path)
    assert frame["state"].tolist()[0] == "running"
    assert "plan.json" in frame["trouble"][1]
    going.release()


def test_importing_it_reads_no_data_library() -> None:
    program = "import orch, sys; print([n for n in ('pandas', 'pyarrow', 'plotly') if n in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout.strip() == "[]"


def cells_of_notebook() -> list[str]:
    document = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]


def test_the_example_notebook_runs_as_it_stands(root: Path) -> None:
    names: dict[str, object] = {}
    with standing_in(root), warnings.catch_warnings():
        warnings.simplefilter("ignore", orch.RunWarning)
        for source in cells_of_notebook():
            exec(compile(source, str(NOTEBOOK), "exec"), names)  # noqa: S102 - our own notebook
    assert isinstance(names["run"], orch.Run)


def test_the_example_notebook_holds_no_output_and_nothing_of_a_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    document = json.loads(text)
    assert document["nbformat"] == 4
    for cell in document["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
    assert not re.search(r"/(home|root|work|tmp|Users)/", text)
