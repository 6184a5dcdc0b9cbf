"""No link inside a run folder is followed, neither to be read nor to be written to."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from orchestrator.analysis.summarise import summarise
from orchestrator.errors import InvalidMeasurement, OrchError, UsageError
from orchestrator.results.folder import RunFolder
from orchestrator.results.verification import verify
from tests.support.folders import CELL, begun, finished, killed, samples

LINKED = ["samples", f"samples/cell={CELL}", samples(0, 1), "superseded", "plan.json", "manifest.json", "journal.jsonl"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("kind", ["outside", "inside"])
def test_a_link_is_not_read_wherever_it_leads(root, tmp_path, name, kind):
    folder = finished(root)
    path = folder.path / name
    target = (tmp_path if kind == "outside" else folder.path / "logs") / "moved"
    target.parent.mkdir(exist_ok=True)
    path.rename(target)
    path.symlink_to(target)
    with pytest.raises(OrchError, match=r"link"):
        verify(RunFolder.open(folder.path, root=root))


@pytest.mark.parametrize("name", ["samples", "plan.json", "manifest.json", "journal.jsonl"])
def test_analysis_follows_no_link_either(root, tmp_path, name):
    path = finished(root).path / name
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    with pytest.raises(OrchError, match=r"link"):
        summarise(RunFolder.open(path.parent, root=root))


def test_a_log_is_not_written_through_a_link(root, tmp_path):
    folder = begun(root)
    precious = tmp_path / "precious"
    precious.write_text("x")
    (folder.path / "logs").mkdir()
    (folder.path / "logs" / "a.log").symlink_to(precious)
    os.link(precious, folder.path / "logs" / "b.log")
    with pytest.raises(InvalidMeasurement, match="link"):
        folder.log("a.log", "overwritten")
    folder.log("b.log", "a file of its own")
    shutil.rmtree(folder.path / "logs")
    (folder.path / "logs").symlink_to(tmp_path)
    with pytest.raises(InvalidMeasurement, match="link"):
        folder.log("precious", "overwritten")
    assert precious.read_text() == "x"


def test_what_is_superseded_is_not_moved_through_a_link(root, tmp_path):
    folder = killed(root)
    folder.convert()
    folder.append({"event": "block", "block": 0, "attempt": 1})
    (tmp_path / "outside").mkdir()
    (folder.path / "superseded").symlink_to(tmp_path / "outside")
    with pytest.raises(InvalidMeasurement, match="link"):
        folder.set_aside()
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_journal_with_a_second_name_is_read_and_never_written_to(root, tmp_path):
    folder = killed(root)
    os.link(folder.path / "journal.jsonl", tmp_path / "other")
    before = (tmp_path / "other").read_bytes()
    again = RunFolder.open(folder.path, root=root)
    assert again.journal_state().begin
    with pytest.raises(InvalidMeasurement, match="hard link"):
        again.append({"event": "warning", "text": "x"})
    assert (tmp_path / "other").read_bytes() == before


def test_a_document_replaces_a_link_and_leaves_what_it_leads_to(root, tmp_path):
    folder = begun(root)
    (tmp_path / "precious").write_text("x")
    (folder.path / "receipt.json").symlink_to(tmp_path / "precious")
    folder.write_json("receipt.json", {})
    assert (tmp_path / "precious").read_text() == "x"
    assert not (folder.path / "receipt.json").is_symlink()


def test_a_link_among_the_runs_that_leads_elsewhere_is_not_ours(root, tmp_path):
    mine = killed(root)
    shutil.copytree(mine.path, tmp_path / "sent" / mine.id)
    (root / "zz-latest").symlink_to(tmp_path / "sent" / mine.id)
    assert RunFolder.open("latest", root=root).path == mine.path
    with pytest.raises(UsageError, match="was not made here"):
        RunFolder.open("zz-latest", root=root).require_ours("resume")
