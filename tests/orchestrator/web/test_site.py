"""What pages are made from: folders found by name, and runs that are judged once."""

from __future__ import annotations

import os

import pytest
from fastapi import HTTPException

from orchestrator.errors import UsageError
from orchestrator.results.folder import RunFolder
from orchestrator.web import site as module
from orchestrator.web.site import Site
from orchestrator.workspace import Workspace
from tests.support.past import with_samples
from tests.support.web import OLDER, WITH_SAMPLES


@pytest.fixture
def site(tmp_path) -> Site:
    with_samples(tmp_path / "results" / WITH_SAMPLES)
    with_samples(tmp_path / "results" / OLDER)
    return Site(Workspace(tmp_path))


@pytest.fixture
def judgements(monkeypatch) -> list[str]:
    """The runs that were judged, in order."""
    judged = []
    summarise = module.summarise
    monkeypatch.setattr(module, "summarise", lambda folder: judged.append(folder.id) or summarise(folder))
    return judged


def test_a_run_is_judged_again_only_when_its_folder_has_changed(site, judgements):
    first = site.judged(WITH_SAMPLES)
    assert site.judged(WITH_SAMPLES) is first
    assert site.judged(OLDER).folder.id == OLDER
    manifest = first.folder.path / "manifest.json"
    os.utime(manifest, ns=(0, manifest.stat().st_mtime_ns + 1))
    again = site.judged(WITH_SAMPLES)
    assert again is not first
    assert again.summary == first.summary
    assert judgements == [WITH_SAMPLES, OLDER, WITH_SAMPLES]


def test_only_the_runs_judged_last_are_kept(site, judgements, monkeypatch):
    monkeypatch.setattr(module, "_MOST_JUDGED", 1)
    for run in (WITH_SAMPLES, OLDER, OLDER, WITH_SAMPLES):
        site.judged(run)
    assert judgements == [WITH_SAMPLES, OLDER, WITH_SAMPLES]


def test_a_run_in_progress_is_not_judged(site, judgements):
    folder = RunFolder(site.workspace.results / WITH_SAMPLES)
    folder.hold()
    try:
        with pytest.raises(UsageError) as error:
            site.judged(WITH_SAMPLES)
        assert error.value.hint == f"/live/{WITH_SAMPLES} follows it"
    finally:
        folder.release()
    assert judgements == []
    assert site.judged(WITH_SAMPLES).folder.id == WITH_SAMPLES


def test_no_folder_is_a_run_without_files_of_a_run(site):
    (site.workspace.results / "empty").mkdir()
    for name in ("empty", "..", "", "a/b"):
        with pytest.raises(HTTPException) as error:
            site.folder(name)
        assert error.value.status_code == 404


def test_without_results_there_is_no_run_and_none_is_made(tmp_path):
    site = Site(Workspace(tmp_path))
    with pytest.raises(HTTPException):
        site.folder(WITH_SAMPLES)
    with site.index() as (index, troubles):
        assert (index.cells(), troubles) == ([], ())
    assert list(tmp_path.iterdir()) == []


def test_all_viewers_of_a_run_share_one_reader(site):
    assert site.reader(WITH_SAMPLES) is site.reader(WITH_SAMPLES)
    assert site.reader(WITH_SAMPLES) is not site.reader(OLDER)
