"""manifest.json is as it was written, belongs to plan and journal, and is there once a run has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement
from orchestrator.results.folder import RunFolder
from orchestrator.results.verification import verify
from orchestrator.summarise import summarise
from tests.support.folders import finished, killed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.mark.parametrize("read", [verify, summarise, RunFolder.manifest])
def test_a_run_that_has_ended_and_has_no_manifest_is_damaged_and_gets_no_other(root, read):
    folder = finished(root)
    (folder.path / "manifest.json").unlink()
    with pytest.raises(InvalidMeasurement, match=r"manifest\.json: the file is missing"):
        read(folder)
    assert not (folder.path / "manifest.json").exists()


def test_a_torn_line_at_the_end_is_cut_and_one_in_the_middle_is_named_by_its_number(root):
    folder = killed(root)
    path = folder.path / "journal.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"event":"warn')
    again = RunFolder.open(folder.path, root=root)
    again.append({"event": "warning", "text": "goes on"})
    assert path.read_bytes().startswith(whole + b'{"event":"warning","text":"goes on"')
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1][:10] + b"\n", *lines[2:]]))
    with pytest.raises(InvalidMeasurement, match=r"journal\.jsonl: line 2 is not as it was written"):
        RunFolder.open(folder.path, root=root).manifest()
    path.write_bytes(b"".join([lines[0], lines[1][:10], *lines[2:]]))
    with pytest.raises(InvalidMeasurement, match=r"journal\.jsonl: line 2 is not as it was written"):
        RunFolder.open(folder.path, root=root).manifest()
