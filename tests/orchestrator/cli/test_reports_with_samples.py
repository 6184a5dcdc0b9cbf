"""`orch report` and `verify` of reports that carry their samples, as a person calls them."""

from __future__ import annotations

import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.results import report
from orchestrator.cli.runs import verify
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.report.dataset import flat_figures
from orchestrator.results.documents import sealed
from tests.support.runs import a_plan, a_run, write_run


def a_folder(root: Path, name: str, seed: int) -> Path:
    run = a_run(a_plan(blocks=3), seed=seed)
    trials = tuple(replace(t, started_wall_ns=t.started_wall_ns + seed * 10**12) for t in run.stored.trials)
    return write_run(replace(run, stored=replace(run.stored, trials=trials)), root / "results" / name)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "as_json", False)
    a_folder(tmp_path, "20231114-221320-one-0000", 1)
    return tmp_path


@pytest.fixture
def out(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    monkeypatch.setattr(console, "out", io.StringIO())
    return console.out


def said(out: io.StringIO) -> str:
    """What was printed since the last look."""
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text


def printed(out) -> dict:
    return json.loads(said(out))


def made(printer, /, **options) -> Path:
    report.report(["latest"], as_json=True, samples=True, **options)
    return Path(printed(printer)["reports"][0]["report"])


def test_a_report_is_written_verified_and_written_again(here, out):
    path = made(out)
    assert path.parent == Path("reports")
    verify.verify(str(path), as_json=True)
    document = printed(out)
    assert document["samples"] == 7_620
    assert (document["differences"], document["page_as_written"]) == ([], True)
    assert document["figures"] > 100
    shutil.rmtree(here / "results")
    report.report([str(path)], as_json=True)
    again = Path(printed(out)["reports"][0]["report"])
    assert again.parent == Path("reports/elsewhere")
    assert again.read_text() == path.read_text()


def test_a_changed_figure_ends_with_5_and_is_named(here, out):
    path = made(out)
    text = path.read_text()
    (cell, _), *_ = (
        item for item in flat_figures.stated(text).items() if item[0][-1] == "median" and len(item[0]) == 3
    )
    changed = re.sub(rf'("{re.escape(cell[1])}":{{[^{{}}]*{{[^}}]*}}.*?"median":)[0-9.]+', r"\g<1>0.5", text, count=1)
    path.write_text(changed)
    with pytest.raises(InvalidMeasurement) as refused:
        verify.verify(str(path), as_json=True)
    (difference,) = refused.value.details["differences"]
    assert (difference["figure"], difference["stated"]) == (cell, 0.5)
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
    document["cells"][0]["distribution"]["median"] *= 2
    (run / "summary.json").write_text(json.dumps(document))
    with pytest.raises(InvalidMeasurement, match="digest is another one"):
        verify.verify(run.name)
    document.pop("seal")
    (run / "summary.json").write_text(json.dumps(sealed(document)))
    with pytest.raises(InvalidMeasurement) as refused:
        verify.verify(run.name)
    (difference,) = refused.value.details["differences"]
    assert difference["figure"] == ("cells", document["cells"][0]["id"], "median")


def test_a_report_that_is_not_there_is_a_usage_error(here):
    for call in (lambda: verify.verify("no.html"), lambda: report.report(["no.html"])):
        with pytest.raises(UsageError, match="there is no file"):
            call()
