"""What a run says of its sealed cells and of the intervals that it waited for, as rows: in a notebook and in JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import orch
from orchestrator.experiment.plan.plan import Until
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.until.find import QUESTION as UNTIL
from tests.support.exported import exported
from tests.support.modelled_runs import a_map, a_mapped_run
from tests.support.runs import a_plan, a_run, write_run

MAPPED, WAITED = "20261121-025500-mapped-aaaa", "20261121-030000-waited-bbbb"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that sealed cells, and one that waited for its intervals up to its last block."""
    folder = tmp_path_factory.mktemp("workspace")
    write_run(a_mapped_run(a_map(blocks=3)), folder / "results" / MAPPED)
    waited = replace(a_plan(blocks=4), until=Until(within=0.002, at_least=3, at_most=4))
    write_run(a_run(waited), folder / "results" / WAITED)
    return folder


def test_sealed_cells_have_what_was_predicted_beside_what_was_measured(root: Path) -> None:
    run = orch.load(MAPPED, root)
    assert PREDICTION.of(run.summary) is not None
    assert set(run.sealed["cell"]) == set(run.summary.plan["sealed"])
    for row in run.sealed.to_dict("records"):
        assert row["error_model"] == pytest.approx(row["predicted_ms"] / row["measured_ms"] - 1)
        assert row["covered"] == (row["predicted_low_ms"] <= row["measured_ms"] <= row["predicted_high_ms"])
        assert abs(row["error_one_round_trip"]) > 0
    assert set(run.sealed["placement"]) <= set(run.cells["placement"]), "names, as in the cells' rows"
    assert run.sealed.attrs["units"]["predicted_ms"] == "ms"
    assert run.until.empty


def test_intervals_that_a_run_waited_for_have_how_far_they_reach(root: Path) -> None:
    run = orch.load(WAITED, root)
    assert UNTIL.of(run.summary) is not None
    (row,) = run.until.to_dict("records")
    assert {row["cell"], row["reference"]} == set(run.cells["cell"])
    assert row["reaches"] == UNTIL.of(run.summary).widths[0].reaches
    assert (row["wanted"], row["blocks"], row["at_most"]) == (0.002, 4, 4)
    assert run.sealed.empty


def test_json_has_both_beside_the_cells(root: Path) -> None:
    path, _ = exported(root, MAPPED, WAITED, format="json", out=root / "both.json")
    document = json.loads(path.read_text())
    assert {row["run"] for row in document["sealed"]} == {MAPPED}
    assert [row["run"] for row in document["until"]] == [WAITED]
    assert document["sealed"][0]["predicted_ms"] > 0
