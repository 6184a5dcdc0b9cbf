from __future__ import annotations

import errno
import os

import pytest

from orchestrator.errors import MissingError
from orchestrator.results.journal import Journal


def test_events_come_back_in_order(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    for number in range(3):
        journal.append({"event": "warning", "text": str(number)}, sync=number != 1)
    assert [e["text"] for e in journal.events()] == ["0", "1", "2"]


def test_a_line_cut_by_a_kill_is_ignored_and_does_not_spoil_the_next(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"event":"a"}\n{"event":"b","te')
    journal = Journal(path)
    assert [e["event"] for e in journal.events()] == ["a"]
    journal.append({"event": "c"})
    assert [e["event"] for e in Journal(path).events()] == ["a", "c"]


def test_a_hole_left_by_a_power_cut_is_passed_over(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"event":"a"}\n' + b"\0" * 40 + b'\n{"event":"b"}\n')
    assert [e["event"] for e in Journal(path).events()] == ["a", "b"]


def test_a_journal_that_was_never_begun_is_empty(tmp_path):
    assert list(Journal(tmp_path / "journal.jsonl").events()) == []


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
