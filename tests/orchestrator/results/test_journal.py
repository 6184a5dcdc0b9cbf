"""The journal and manifest.json of a run."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement, MissingError, UsageError
from orchestrator.results.folder import RunFolder, verify
from orchestrator.results.journal import Journal
from orchestrator.summarise import summarise
from tests.support.folders import add_trial, begun, finished, killed, samples


def written(path: Path, *names: str) -> Journal:
    journal = Journal(path)
    for name in names:
        journal.append({"event": name})
    return journal


@pytest.mark.parametrize("rest", [b'{"event":"b","te', b"\0" * 40, b"\0" * 40 + b"\n"])
def test_what_a_kill_or_a_power_cut_left_is_ignored_and_does_not_spoil_the_next(tmp_path, rest):
    path = tmp_path / "journal.jsonl"
    written(path, "a")
    path.write_bytes(path.read_bytes() + rest)
    assert [e["event"] for e in Journal(path).events()] == ["a"]
    written(path, "c")
    assert [e["event"] for e in Journal(path).events()] == ["a", "c"]


def _without(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[2]]


def _edited(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b'"b"', b'"x"'), lines[2]]


@pytest.mark.parametrize("change", [_without, _edited])
def test_a_line_that_was_removed_moved_repeated_or_changed_is_named(tmp_path, change):
    path = tmp_path / "journal.jsonl"
    written(path, "a", "b", "c")
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(InvalidMeasurement, match=r"journal\.jsonl: line [23] is not as it was written"):
        list(Journal(path).events())
    with pytest.raises(InvalidMeasurement):
        Journal(path).append({"event": "d"})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_json_cannot_carry_is_not_written(tmp_path, value):
    journal = written(tmp_path / "journal.jsonl", "a")
    with pytest.raises(ValueError, match=r"."):
        journal.append({"event": "b", "value": value})
    assert [e["event"] for e in journal.events()] == ["a"]


def test_a_full_disk_is_a_missing_error_and_leaves_whole_lines_only(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append({"event": "a"})

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MissingError, match="disk is full"):
        journal.append({"event": "b"})
    monkeypatch.undo()
    journal.append({"event": "c"})
    assert [e["event"] for e in journal.events()] == ["a", "c"]


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


@pytest.fixture
def whole(root: Path) -> RunFolder:
    """A complete run that verifies."""
    folder = finished(root)
    assert {"journal.jsonl", "manifest.json", "plan.json", samples(0, 1)} <= set(verify(folder))
    return RunFolder.open(folder.path, root=root)


@pytest.mark.parametrize("name", ["manifest.json", "plan.json", samples(0, 1)])
def test_verify_names_a_file_that_was_removed(whole, name):
    (whole.path / name).unlink()
    with pytest.raises(InvalidMeasurement, match=re.escape(name)):
        verify(whole)


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
