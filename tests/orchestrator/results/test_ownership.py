from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from orchestrator import own_mark
from orchestrator.errors import InvalidMeasurement, MissingError, UsageError
from orchestrator.results import folder as folder_module
from orchestrator.results.folder import RunFolder, latest_of_ours, runs
from orchestrator.results.verification import verify
from tests.support.folders import begun, finished, killed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "results"


def put_back(folder: RunFolder, content: bytes) -> RunFolder:
    """The folder with another journal: the same inode, as an archive that is unpacked in its place may get."""
    (folder.path / "journal.jsonl").write_bytes(content)
    return RunFolder(folder.path, root=folder.path.parent)


def test_a_folder_with_our_inode_whose_journal_is_not_as_we_left_it_is_from_elsewhere(root):
    folder = killed(root)
    lines = (folder.path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    assert put_back(folder, b"".join(lines)).is_ours
    assert not put_back(folder, b"".join(lines[:-2])).is_ours
    forged = put_back(folder, lines[0])
    forged._journal._announce = None  # somebody else's writer
    forged._journal.append({"event": "warning", "text": "forged"})
    assert not put_back(folder, (folder.path / "journal.jsonl").read_bytes()).is_ours
    longer = put_back(folder, b"".join(lines))
    longer._journal._announce = None
    longer._journal.append({"event": "end", "state": "complete", "at": ""})
    assert not RunFolder(folder.path, root=root).is_ours
    with pytest.raises(UsageError, match="was not made here"):
        RunFolder(folder.path, root=root).append({"event": "warning", "text": "x"})


def test_a_finished_run_whose_last_event_was_cut_is_not_resumed(root):
    folder = finished(root)
    assert folder.is_ours
    lines = (folder.path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    assert not put_back(folder, b"".join(lines[:-1])).is_ours


def test_a_kill_between_the_note_and_the_event_leaves_the_folder_ours(root):
    folder = killed(root)
    before = (folder.path / "journal.jsonl").read_bytes()
    folder.append({"event": "warning", "text": "x"})
    assert RunFolder(folder.path, root=root).is_ours
    assert put_back(folder, before + b'{"event":"warn').is_ours


def test_another_generation_of_the_same_inode_is_another_folder(root, monkeypatch):
    folder = killed(root)
    was = folder_module.ownership._generation(folder.path)
    monkeypatch.setattr(folder_module.ownership, "_generation", lambda path: (was or 0) + 1)
    assert not folder.is_ours


def foreign(root: Path, name: str) -> Path:
    """A folder that somebody sent, under our results."""
    shutil.copytree(runs(root)[0].path, root / name)
    return root / name


def test_the_latest_run_is_one_of_ours_and_others_are_mentioned(root, caplog):
    mine = killed(root)
    foreign(root, "zz-sent")
    with caplog.at_level("INFO"):
        assert RunFolder.open("latest", root=root).id == mine.id
        assert latest_of_ours(root).id == mine.id
    assert [record.getMessage().endswith("zz-sent") for record in caplog.records] == [True, True]
    shutil.rmtree(mine.path)
    assert latest_of_ours(root) is None
    with pytest.raises(UsageError, match="none is the latest") as caught:
        RunFolder.open("latest", root=root)
    assert "zz-sent" in str(caught.value.hint)


def test_a_damaged_run_of_ours_is_the_latest_all_the_same(root):
    begun(root).release()
    last = begun(root, at_s=1_895_229_803.0)
    last.release()
    (last.path / "journal.jsonl").write_text("{")
    assert RunFolder.open("latest", root=root).id == last.id


@pytest.mark.parametrize("kind", ["pipe", "dangling", "device", "our journal", "folder"])
def test_a_journal_that_is_no_regular_file_is_neither_followed_nor_waited_for(root, tmp_path, kind):
    mine = begun(root)
    path = foreign(root, "zz-sent") / "journal.jsonl"
    path.unlink()
    targets = {"dangling": tmp_path / "made", "device": "/dev/zero", "our journal": mine.path / "journal.jsonl"}
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(targets[kind])
    (path.parent / "manifest.json").write_text("{}")
    bad = RunFolder.open("zz-sent", root=root)
    for act in (lambda: verify(bad), bad.hold, bad.journal_state):
        with pytest.raises(InvalidMeasurement, match=r"journal\.jsonl: not a regular file"):
            act()
    with pytest.raises(UsageError, match="was not made here"):
        bad.append({"event": "warning", "text": "x"})
    assert (bad.is_ours, bad.is_in_progress) == (False, False)
    assert not (tmp_path / "made").exists()
    assert RunFolder.open("latest", root=root).id == mine.id


def test_a_run_whose_id_is_taken_gets_another_one_and_the_first_stays(root, monkeypatch):
    monkeypatch.setattr(folder_module.secrets, "token_hex", lambda n: "abcd")
    first = begun(root)
    (first.path / "precious").write_text("x")
    second = begun(root)
    assert first.id != second.id
    assert (first.path / "precious").read_text() == "x"
    assert first.is_ours
    assert second.is_ours
    monkeypatch.setattr(folder_module, "_MOST_IDS", 2)
    with pytest.raises(MissingError, match="names are taken"):
        begun(root)
    assert (first.path / "precious").read_text() == "x"


def forge(folder: RunFolder, **changed: object) -> Path:
    """The note that somebody could write who knows how orch writes them, but not the key."""
    place = folder.path.parent.parent / ".orch" / "made" / f"{folder.id}.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), **changed}))
    return place


def test_a_note_that_was_forged_changed_or_copied_makes_no_folder_ours(root, tmp_path):
    mine = killed(root)
    sent = RunFolder(shutil.copytree(mine.path, root / "zz-sent"), root=root)
    place = root.parent / ".orch" / "made" / "zz-sent.json"
    identity = folder_module.ownership._identity(sent.path)
    shutil.copy(place.with_name(f"{mine.id}.json"), place)
    assert not sent.is_ours
    ends = json.loads(place.read_text())["ends"]
    for mark in ("", None, 7, "\u00e9", "0" * 64, json.loads(place.read_text())["mark"]):
        place.write_text(json.dumps({**identity, "ends": ends, "mark": mark}))
        assert not sent.is_ours
    with pytest.raises(UsageError, match=r"it is only read: .*zz-sent\.json does not carry the mark of .*own\.key"):
        sent.require_ours("resume")
    assert mine.is_ours
    forge(mine, ends=[*ends, "0" * 64])
    assert not mine.is_ours


def test_a_lost_key_makes_old_runs_read_only_and_says_so(root, tmp_path, monkeypatch):
    mine = finished(root)
    assert mine.is_ours
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    for _ in range(2):  # without a key, and with a new one
        assert RunFolder.open(mine.path, root=root).manifest().state == "complete"
        assert not mine.is_ours
        with pytest.raises(UsageError, match="that key was lost or replaced"):
            mine.require_ours("sign")
        with pytest.raises(UsageError, match="none is the latest"):
            RunFolder.open("latest", root=root)
        begun(tmp_path / "other" / "results").release()
    monkeypatch.undo()
    assert mine.is_ours
    key = own_mark.key_file()
    mode = key.parent.stat().st_mode
    key.parent.chmod(0o777)
    try:
        assert "others can write to it" in (mine.why_not_ours() or "")
        assert RunFolder.open(mine.path, root=root).manifest().state == "complete"
    finally:
        key.parent.chmod(mode)


def test_without_a_place_for_the_key_no_run_begins_and_none_is_left(root, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(MissingError, match="marks what this user's orch made cannot be used"):
        begun(root)
    assert list(root.iterdir()) == []


def test_a_word_names_a_run_under_results_whatever_lies_in_the_working_folder(root, tmp_path, monkeypatch):
    mine = killed(root)
    monkeypatch.chdir(tmp_path)
    for name in (mine.id, "latest", "sent"):
        shutil.copytree(mine.path, tmp_path / name)
    assert RunFolder.open(mine.id, root=root).path == mine.path
    assert RunFolder.open("latest", root=root).path == mine.path
    assert RunFolder.open(f"./{mine.id}", root=root).path == Path(mine.id)
    assert RunFolder.open("sent", root=root).path == Path("sent")
