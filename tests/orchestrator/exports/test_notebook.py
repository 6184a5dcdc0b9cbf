"""`import orch`: a stored run as data frames, whose figures are the report's; and the example notebook, run as it stands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import orch
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.exports.samples import COLUMNS as SAMPLE_COLUMNS
from tests.support.exported import SOUND, standing_in, workspace
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


def test_nothing_is_read_before_it_is_asked_for(root: Path, tmp_path: Path) -> None:
    write_run(a_run(blocks=2), tmp_path / "results" / "x")
    found = orch.load("x", tmp_path)
    for file in (tmp_path / "results" / "x" / "samples").rglob("*.parquet"):
        file.write_bytes(b"")
    assert repr(found) == "<orch run x>"
    with pytest.raises(InvalidMeasurement) as damaged:
        found.samples.head()
    assert damaged.value.__notes__ == [damaged.value.hint]


def test_latest_is_the_default_and_what_is_not_there_is_said_with_what_to_do(root: Path) -> None:
    assert orch.load(folder=root).id == SECOND
    with pytest.raises(UsageError, match="no run 'nosuch'") as missing:
        orch.load("nosuch", root)
    assert missing.value.__notes__


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
