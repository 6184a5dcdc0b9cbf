from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.results.folder import RunFolder
from orchestrator.results.verification import verify
from tests.support.folders import add_trial, begun, finished, samples


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.fixture
def whole(root: Path) -> RunFolder:
    """A complete run that verifies."""
    folder = finished(root)
    assert {"journal.jsonl", "manifest.json", "plan.json", samples(0, 1)} <= set(verify(folder))
    return RunFolder.open(folder.path, root=root)


@pytest.mark.parametrize("name", ["manifest.json", "plan.json", samples(0, 1), f"superseded/{samples(0)}"])
def test_verify_names_a_file_that_was_removed(whole, name):
    (whole.path / name).unlink()
    with pytest.raises(InvalidMeasurement, match=re.escape(name)):
        verify(whole)


def test_verify_names_samples_whose_digest_was_never_written_down(root):
    folder = begun(root)
    add_trial(folder, 0, block=0, raw=False)
    folder.finish("complete", at="")
    with pytest.raises(InvalidMeasurement, match=r"t0-a0\.parquet: no SHA-256 of it"):
        verify(folder)


def test_a_run_that_was_killed_is_verified_as_interrupted_and_one_in_progress_is_not(root):
    folder = begun(root)
    folder.append({"event": "block", "block": 0, "attempt": 0})
    add_trial(folder, 0, block=0)
    other = RunFolder.open(folder.path, root=root)
    with pytest.raises(UsageError, match="still in progress"):
        verify(other)
    folder.release()
    assert samples(0) in verify(other)
    assert other.manifest().state == "interrupted"
