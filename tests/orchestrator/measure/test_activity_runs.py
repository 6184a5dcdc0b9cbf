"""Real runs of streams that are read from a database: what they keep, and a database that is away."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.model.factors import GIVEN
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.measure import run as measure
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.workspace import Workspace
from tests.support.hosts import Told

pytestmark = [pytest.mark.alone, pytest.mark.busy, pytest.mark.slow]

EXPERIMENT = """\
name: followed
question: What does it cost a stream that its events are read from a database?
stacks: [websocket]
operations: [{activity: {per_second: 100/s}}]
store: [none, sqlite, postgresql]
compare_by: store
load: {concurrency: 2, duration: 500ms}
warmup: {at_least: 100ms}
timeout: 5s
repeats: 1
"""


def failures(run: RunFolder) -> dict[str, tuple[str, str]]:
    """Of each cell whose trial failed, the kind and what was said."""
    return {t.cell: (t.failure.kind, t.failure.message) for t in run.journal_state().trials if t.failure is not None}


def test_a_database_that_is_away_fails_its_cells_and_others_keep_every_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(GIVEN, "postgresql://me:secret@127.0.0.1:9/x")
    Path("followed.yaml").write_text(EXPERIMENT)
    plan = make_plan(Path("followed.yaml"))
    run = RunFolder(measure.start(plan, Workspace(), command=["orch", "run"], listener=Told()).folder)
    [(cell, (_, said))] = failures(run).items()
    assert "postgresql" in cell
    assert "the database x at 127.0.0.1:9: OperationalError" in said
    assert "secret" not in said
    summary = summarise(run)
    streams = {
        str(cell.factors["store"]): cell.details.stream for cell in summary.cells if cell.details.stream is not None
    }
    assert streams.keys() == {"none", "sqlite"}
    for of in streams.values():
        assert (of.offered, of.sent, of.delivered, of.dropped, of.wrong) == (100, 100, 100, 0, 0)
    assert {one.cell for one in summary.checks if one.name == "completeness" and one.verdict == "fail"} == {cell}
