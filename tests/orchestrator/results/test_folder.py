from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.results.folder import RunFolder, verify
from services.python.contract.description import Description
from tests.support.folders import add_trial, begun, samples


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "results"


def test_a_run_is_found_by_id_beginning_path_or_as_the_latest(root):
    first, second = begun(root), begun(root, at_s=1_895_229_803.0)
    for name in (first.id, first.id[:8], first.path, str(first.path)):
        assert RunFolder.open(name, root=root).id == first.id
    assert RunFolder.open("latest", root=root).id == second.id


def test_a_run_that_is_not_there_is_an_error_that_names_those_that_are(root):
    with pytest.raises(UsageError, match="there is none under"):
        RunFolder.open("latest", root=root)
    first, second = begun(root), begun(root, at_s=1_795_229_803.0)
    with pytest.raises(UsageError, match=f"{first.id}, {second.id}"):
        RunFolder.open("2026", root=root)
    with pytest.raises(UsageError, match="no run 'x'") as caught:
        RunFolder.open("x", root=root)
    assert second.id in str(caught.value.hint)


def test_a_finished_run_reads_back_whole(root):
    folder = begun(root)
    folder.append(
        {"event": "fleet", "fleet": {"provider": "local"}, "hosts": {"local": asdict(Description(kernel="6"))}}
    )
    add_trial(folder, 0, block=0)
    folder.finish("complete", at="2026-11-21T02:57:00+00:00")
    manifest = RunFolder.open(folder.path).manifest()
    assert (manifest.state, manifest.hosts) == ("complete", {"local": Description(kernel="6")})
    assert [t.index for t in manifest.trials] == [0]
    assert manifest.trials[0].requesters[0].samples == samples(0)
    assert set(manifest.files) == {samples(0)}
    assert not (folder.path / "staging").exists()


@pytest.mark.parametrize("damage", ["truncated", "altered", "missing"])
def test_a_damaged_file_is_an_error_that_names_it(root, damage):
    folder = begun(root)
    add_trial(folder, 0, block=0)
    folder.finish("complete", at="")
    path = folder.path / samples(0)
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(content[:-5] if damage == "truncated" else content[:-1] + b"X")
    with pytest.raises(InvalidMeasurement, match=r"t0-a0\.parquet: (the file is missing|truncated or altered)"):
        RunFolder(folder.path).samples(samples(0), ["sent_ns"])


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema_version": 1, "what": 2}'])
def test_a_damaged_manifest_is_an_error_that_names_it(root, content):
    folder = begun(root)
    (folder.path / "manifest.json").write_text(content)
    with pytest.raises(InvalidMeasurement, match=r"manifest\.json"):
        RunFolder(folder.path).manifest()


def test_after_a_kill_the_manifest_is_made_from_the_journal_and_waiting_records_are_converted(root):
    folder = begun(root)
    folder.append({"event": "block", "block": 0, "attempt": 0})
    add_trial(folder, 0, block=0)
    folder.release()  # a kill releases the lock and nothing else
    with (folder.path / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"event":"trial","tri')
    after = RunFolder.open(folder.path, root=root)
    assert after.manifest().state == "interrupted"
    assert list(after.manifest().files) == [samples(0)]
    assert len(after.samples(samples(0), ["sequence"])["sequence"]) == 10


def test_a_run_that_goes_on_elsewhere_is_only_read(root):
    folder = begun(root)
    add_trial(folder, 0, block=0)
    other = RunFolder.open(folder.path, root=root)
    assert other.manifest().state == "running"
    assert folder.raw_path(samples(0)).exists()
    with pytest.raises(UsageError, match="another orch process"):
        other.hold()


def test_a_record_that_is_lost_is_a_warning_not_a_crash(root):
    folder = begun(root)
    add_trial(folder, 0, block=0, raw=False)
    assert "is lost" in folder.finish("interrupted", at="").warnings[0]


def test_a_run_without_a_beginning_is_an_error_that_names_the_journal(root):
    folder = begun(root)
    folder.release()
    (folder.path / "journal.jsonl").write_text("")
    with pytest.raises(InvalidMeasurement, match=r"journal\.jsonl: damaged"):
        RunFolder(folder.path).manifest()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("plan.json", '"seed": ', '"seed": 1'),
        ("manifest.json", '"state": "complete"', '"state": "interrupted"'),
        ("journal.jsonl", '"requests":10', '"requests":11'),
    ],
)
def test_an_edited_document_is_named(root, name, old, new):
    folder = begun(root)
    add_trial(folder, 0, block=0)
    folder.finish("complete", at="2026-11-21T02:57:00+00:00")
    path = folder.path / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InvalidMeasurement, match=re.escape(name)):
        RunFolder.open(folder.path, root=root).manifest()


def test_what_a_cut_block_had_finished_is_gone_once_it_is_repeated(root):
    folder = begun(root)
    folder.append({"event": "block", "block": 0, "attempt": 0})
    add_trial(folder, 0, block=0)
    folder.convert()
    folder.append({"event": "block", "block": 0, "attempt": 1})
    add_trial(folder, 0, block=0, attempt=1)
    folder.finish("complete", at="")
    assert [path.name for path in folder.path.rglob("*.parquet")] == [Path(samples(0, 1)).name]
    assert samples(0, 1) in verify(folder)
