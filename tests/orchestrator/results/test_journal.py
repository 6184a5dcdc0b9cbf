from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement, MissingError
from orchestrator.results.journal import Journal


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


def _swapped(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[2], lines[1]]


def _twice(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1], lines[1], lines[2]]


def _edited(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b'"b"', b'"x"'), lines[2]]


def _unchained(lines: list[bytes]) -> list[bytes]:
    return [lines[0], b'{"event":"b"}\n', lines[2]]


@pytest.mark.parametrize("change", [_without, _swapped, _twice, _edited, _unchained])
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
