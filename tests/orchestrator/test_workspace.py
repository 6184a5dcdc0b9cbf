"""Whatever orch keeps lies in the workspace that it was given, wherever one stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import UsageError
from orchestrator.experiment import store
from orchestrator.measure import run as measure
from orchestrator.measure import teardown
from orchestrator.measure.progress import in_progress
from orchestrator.results.folder import RunFolder, newest, runs
from orchestrator.workspace import Workspace
from tests.support.folders import begun, finished
from tests.support.plans import plan

pytestmark = pytest.mark.busy


class Silent:
    def progress(self, text: str) -> None: ...

    def live(self, text: str) -> None: ...

    def warning(self, text: str) -> None: ...


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace that is not the folder one stands in, which is empty."""
    (tmp_path / "here").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return Workspace(tmp_path / "elsewhere")


def test_a_plan_is_kept_and_found_there_alone(elsewhere: Workspace) -> None:
    made = plan()
    assert store.save(made, elsewhere.plans).is_relative_to(elsewhere.root)
    assert store.current(elsewhere.plans) == made
    with pytest.raises(UsageError, match="no current plan"):
        store.current(Workspace().plans)


def test_a_run_is_made_and_found_there_alone(elsewhere: Workspace) -> None:
    folder = finished(elsewhere.results)
    assert [run.id for run in runs(elsewhere.results)] == [folder.id]
    latest = newest(elsewhere.results)
    assert latest is not None
    assert latest.id == folder.id
    assert runs(Workspace().results) == []
    with pytest.raises(UsageError, match="there is none under results/"):
        RunFolder.open("latest", root=Workspace().results)


def test_what_is_in_progress_there_is_seen_and_ended_there(elsewhere: Workspace) -> None:
    folder = begun(elsewhere.results)
    folder.hold()
    assert [run.run for run in in_progress(elsewhere.results)] == [folder.id]
    assert [ending.is_going_on for ending in teardown.end_what_is_up(elsewhere)] == [True]
    folder.release()
    assert teardown.end_what_is_up(Workspace()) == []
    receipt = teardown.end(elsewhere, folder.id).receipt
    assert receipt is not None
    assert receipt.left == ()


@pytest.mark.slow
def test_a_whole_run_leaves_nothing_where_one_stands(elsewhere: Workspace) -> None:
    result = measure.start(plan("tcp", repeats=1), elsewhere, command=["orch", "run"], listener=Silent())
    assert result.folder.parent == elsewhere.results
    assert result.report is not None
    assert result.report.parent == elsewhere.reports
    assert result.report.is_file()
    assert list(Path().iterdir()) == []
