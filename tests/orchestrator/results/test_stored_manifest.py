"""manifest.json is as it was written, belongs to plan and journal, and is there once a run has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement
from orchestrator.results.folder import RunFolder
from orchestrator.results.verification import verify
from orchestrator.summarise import summarise
from tests.support.folders import add_trial, begun, finished, killed


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


def test_a_kill_between_the_last_event_and_the_manifest_leaves_one_that_is_brought_up_to_date(root, monkeypatch):
    folder = begun(root)
    folder.append({"event": "block", "block": 0, "attempt": 0})
    add_trial(folder, 0, block=0)
    append = RunFolder.append

    def die(self, event, **how):
        append(self, event, **how)
        if event["event"] == "end":
            raise KeyboardInterrupt

    monkeypatch.setattr(RunFolder, "append", die)
    with pytest.raises(KeyboardInterrupt):
        folder.finish("complete", at="")
    monkeypatch.undo()
    folder.release()
    assert RunFolder.open(folder.path, root=root).manifest().state == "complete"


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
