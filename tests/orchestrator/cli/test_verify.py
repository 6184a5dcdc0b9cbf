"""`orch runs verify`, as a person calls it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli.results import report
from orchestrator.cli.runs import verify
from orchestrator.errors import InvalidMeasurement
from orchestrator.results.documents import sealed
from tests.support.runs import a_plan, a_run, write_run

NAME = "20231114-221320-one-0000"


def test_the_figures_that_analysis_left_in_a_run_are_recomputed(out, tmp_path: Path):
    made_up = a_run(a_plan(blocks=3), seed=1)
    trials = tuple(replace(t, started_wall_ns=t.started_wall_ns + 10**12) for t in made_up.stored.trials)
    run = write_run(replace(made_up, stored=replace(made_up.stored, trials=trials)), tmp_path / "results" / NAME)
    verify.verify(NAME, as_json=True)
    assert json.loads(out.said())["figures"] == 0
    report.report(["latest"], as_json=True)
    out.said()
    verify.verify(NAME, as_json=True)
    assert json.loads(out.said())["figures"] > 100
    document = json.loads((run / "summary.json").read_text())
    document["cells"][0]["distribution"]["median"] *= 2
    (run / "summary.json").write_text(json.dumps(document))
    with pytest.raises(InvalidMeasurement, match="digest is another one"):
        verify.verify(NAME)
    document.pop("seal")
    (run / "summary.json").write_text(json.dumps(sealed(document)))
    with pytest.raises(InvalidMeasurement) as refused:
        verify.verify(NAME)
    (difference,) = refused.value.details["differences"]
    assert difference["place"] == ("cells", document["cells"][0]["id"], "distribution", "median")
    assert refused.value.exit_code == 5


def test_the_last_digits_of_a_number_are_no_difference():
    assert list(verify.differences({"a": [1.0]}, {"a": [1 + 1e-12]})) == []
    assert len(list(verify.differences({"a": 1.0, "b": "x"}, {"a": 1.1}))) == 2
