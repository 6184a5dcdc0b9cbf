from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orchestrator.errors import UsageError
from orchestrator.results.folder import RunFolder, latest_of_ours
from tests.support.folders import begun, finished, killed


def test_a_run_carries_the_label_under_its_own_name_alone(tmp_path: Path) -> None:
    folder = finished(tmp_path / "results")
    copy = shutil.copytree(folder.path, folder.path.with_name("zz-copy"))
    assert folder.is_ours
    assert not RunFolder(copy).is_ours
    with pytest.raises(UsageError):
        RunFolder(copy).require_ours("resume")
    assert RunFolder(copy).origin() != folder.origin() == ""


def test_the_latest_run_is_one_that_was_made_here_damaged_or_not(tmp_path: Path) -> None:
    root = tmp_path / "results"
    ours = killed(root)
    shutil.copytree(ours.path, root / "zz-copy")
    assert RunFolder.open("latest", root=root).id == ours.id
    newest = latest_of_ours(root)
    assert newest is not None
    assert newest.id == ours.id
    (ours.path / "journal.jsonl").write_text("{")
    assert RunFolder.open("latest", root=root).id == ours.id
    shutil.rmtree(ours.path)
    assert latest_of_ours(root) is None
    with pytest.raises(UsageError):
        RunFolder.open("latest", root=root)


def test_a_run_whose_id_is_taken_gets_another_one_and_the_first_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(["abcd", "abcd", "abcdef"])
    monkeypatch.setattr("orchestrator.results.folder.secrets.token_hex", lambda _bytes: next(names))
    first = begun(tmp_path / "results")
    second = begun(tmp_path / "results")
    assert first.id != second.id
    assert first.is_ours
    assert second.is_ours
