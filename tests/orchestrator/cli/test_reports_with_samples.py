"""`orch report` and `verify` of reports that carry their samples, as a person calls them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.results import report
from orchestrator.cli.runs import verify
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.report.carried_run import SUMMARY
from orchestrator.results.documents import sealed
from tests.orchestrator.report.test_carried_run import carrying, entries, zipped
from tests.support.runs import a_plan, a_run, write_run


@pytest.fixture
def here(out: Any, tmp_path: Path) -> Path:
    run = a_run(a_plan(blocks=3), seed=1)
    trials = tuple(replace(t, started_wall_ns=t.started_wall_ns + 10**12) for t in run.stored.trials)
    stored = replace(run.stored, trials=trials)
    write_run(replace(run, stored=stored), tmp_path / "results" / "20231114-221320-one-0000")
    return tmp_path


def printed(out) -> dict:
    return json.loads(out.said())


def made(printer, /, **options) -> Path:
    report.report("latest", as_json=True, samples=True, **options)
    return Path(printed(printer)["report"])


def test_a_report_is_written_verified_and_written_again(here, out):
    path = made(out)
    text = path.read_text()
    assert path.parent == Path("reports")
    verify.verify(str(path), as_json=True)
    document = printed(out)
    assert (document["differences"], document["page_as_written"]) == ([], True)
    assert document["figures"] > 100
    shutil.rmtree(here / "results")
    report.report(str(path), as_json=True)
    assert Path(printed(out)["report"]).read_text() == text


def changed(document: dict, number: int) -> str:
    """Change a cell's median; the cell's id."""
    document["cells"][number]["distribution"]["median"] *= 2
    return document["cells"][number]["id"]


def test_a_changed_figure_ends_with_5_and_is_named(here, out):
    path = made(out)
    text = path.read_text()
    parts = entries(text)
    document = json.loads(parts[SUMMARY])
    cell = changed(document, 0)
    path.write_text(carrying(text, zipped(parts | {SUMMARY: json.dumps(document).encode()})))
    with pytest.raises(InvalidMeasurement) as refused:
        verify.verify(str(path), as_json=True)
    (difference,) = refused.value.details["differences"]
    assert difference["place"] == ("cells", cell, "distribution", "median")
    assert refused.value.exit_code == 5


def test_a_changed_text_ends_with_5(here, out):
    path = made(out)
    path.write_text(path.read_text().replace("</main>", "1</main>"))
    with pytest.raises(InvalidMeasurement) as refused:
        verify.verify(str(path), as_json=True)
    assert (refused.value.details["differences"], refused.value.details["page_as_written"]) == ([], False)


def test_the_figures_that_analysis_left_in_a_run_are_recomputed(here, out):
    run = Path("results/20231114-221320-one-0000")
    verify.verify(run.name, as_json=True)
    assert printed(out)["figures"] == 0
    made(out)
    verify.verify(run.name, as_json=True)
    assert printed(out)["figures"] > 100
    document = json.loads((run / "summary.json").read_text())
    cell = changed(document, 0)
    (run / "summary.json").write_text(json.dumps(document))
    with pytest.raises(InvalidMeasurement, match="digest is another one"):
        verify.verify(run.name)
    document.pop("seal")
    (run / "summary.json").write_text(json.dumps(sealed(document)))
    with pytest.raises(InvalidMeasurement) as refused:
        verify.verify(run.name)
    (difference,) = refused.value.details["differences"]
    assert difference["place"] == ("cells", cell, "distribution", "median")


def test_the_last_digits_of_a_number_are_no_difference():
    assert list(verify.differences({"a": [1.0]}, {"a": [1 + 1e-12]})) == []
    assert len(list(verify.differences({"a": 1.0, "b": "x"}, {"a": 1.1}))) == 2


def test_a_report_that_is_not_there_is_a_usage_error(here):
    for call in (lambda: verify.verify("no.html"), lambda: report.report("no.html")):
        with pytest.raises(UsageError, match="there is no file"):
            call()
