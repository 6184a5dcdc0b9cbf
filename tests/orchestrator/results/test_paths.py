from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement
from orchestrator.results.documents import inside
from orchestrator.results.folder import RunFolder
from tests.support.folders import add_trial, begun


@pytest.mark.parametrize("relative", ["../escape", "/tmp/escape", "samples/../../escape", "link/escape"])
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path: Path, relative: str) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(InvalidMeasurement):
        inside(folder, relative)


def test_a_path_inside_is_given_also_where_the_folder_itself_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "run")
    assert inside(tmp_path / "link", "samples/a") == tmp_path / "link" / "samples" / "a"


def test_samples_that_the_journal_puts_outside_are_not_written(tmp_path: Path) -> None:
    folder = begun(tmp_path / "results")
    add_trial(folder, 0, block=0, path="../../escape.parquet")
    folder.release()
    with pytest.raises(InvalidMeasurement):
        RunFolder.open(folder.path).manifest()
    assert not (tmp_path / "escape.parquet").exists()
