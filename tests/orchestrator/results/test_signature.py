from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from orchestrator.analysis.summarise import summarise
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.report.render import render
from orchestrator.results import signature
from orchestrator.results.documents import sha256_of
from orchestrator.results.folder import RunFolder
from orchestrator.results.journal import Journal
from orchestrator.results.verification import verify
from tests.support.runs import a_run, write_run

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not here")


def key(folder: Path, name: str) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name], check=True)
    return folder / name


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.open(write_run(a_run(blocks=3), tmp_path / "results" / "a-run"), root=tmp_path / "results")


@pytest.fixture
def signers(tmp_path: Path) -> Path:
    key(tmp_path, "me")
    (tmp_path / "signers").write_text(f"me@example.org {(tmp_path / 'me.pub').read_text()}")
    return tmp_path / "signers"


def test_a_signed_run_is_verified_by_whoever_knows_the_key(folder, signers):
    signature.sign(folder, signers.parent / "me")
    signature.verify(folder, signers, "me@example.org")


def test_another_signer_another_name_and_another_manifest_do_not_pass(folder, signers, tmp_path):
    signature.sign(folder, key(tmp_path, "stranger"))
    with pytest.raises(InvalidMeasurement, match="signature is not me@example"):
        signature.verify(folder, signers, "me@example.org")
    signature.sign(folder, tmp_path / "me")
    with pytest.raises(InvalidMeasurement, match="signature is not other@example"):
        signature.verify(folder, signers, "other@example.org")
    manifest = folder.path / "manifest.json"
    manifest.write_text(manifest.read_text() + "\n")
    with pytest.raises(InvalidMeasurement, match="the same data in other bytes"):
        signature.verify(folder, signers, "me@example.org")


def test_what_cannot_be_signed_is_refused(folder, signers, tmp_path):
    with pytest.raises(UsageError, match="there is no key"):
        signature.sign(folder, tmp_path / "nowhere")
    (tmp_path / "no-key").write_text("nothing")
    (tmp_path / "no-key").chmod(0o600)
    with pytest.raises(UsageError, match="cannot sign"):
        signature.sign(folder, tmp_path / "no-key")
    shutil.copytree(folder.path, tmp_path / "copy")
    with pytest.raises(UsageError, match="was not made here"):
        signature.sign(RunFolder.open(tmp_path / "copy", root=tmp_path / "results"), tmp_path / "me")
    with pytest.raises(InvalidMeasurement, match="carries no signature"):
        signature.verify(folder, signers, "me@example.org")


def test_an_altered_run_is_not_signed(folder, signers):
    sample = next((folder.path / "samples").rglob("*.parquet"))
    sample.write_bytes(sample.read_bytes()[:-1] + b"X")
    with pytest.raises(InvalidMeasurement, match="altered"):
        signature.sign(folder, signers.parent / "me")


def test_a_journal_that_goes_on_after_what_was_signed_is_refused_and_its_hash_is_not_shown(folder, signers, tmp_path):
    signature.sign(folder, signers.parent / "me")
    signed = summarise(folder).manifest_sha256
    assert signed == sha256_of(folder.path / "manifest.json")
    copy = RunFolder.open(shutil.copytree(folder.path, tmp_path / "sent" / "a-run"))
    signature.verify(copy, signers, "me@example.org")
    journal = Journal(copy.path / "journal.jsonl")
    trial = next(event for event in journal.events() if event["event"] == "trial")
    journal.append({"event": "resume", "command": [], "at": "2023-11-14T22:30:00Z"})
    journal.append({"event": "block", "block": 0, "attempt": 1})
    journal.append({"event": "trial", "trial": {**trial["trial"], "attempt": 1}})
    journal.append({"event": "end", "state": "complete", "at": "2023-11-14T22:40:00Z"})
    for act in (lambda f: signature.verify(f, signers, "me@example.org"), verify):
        with pytest.raises(InvalidMeasurement, match="continues after"):
            act(RunFolder.open(copy.path))
    summary = summarise(RunFolder.open(copy.path))
    assert summary.manifest_sha256 == ""
    assert "journal.jsonl continues after manifest.json" in summary.warnings[-1]
    assert "journal.jsonl continues after manifest.json" in render(summary)
    ours = Journal(folder.path / "journal.jsonl")
    ours.append({"event": "resume", "command": [], "at": "2023-11-14T22:30:00Z"})
    with pytest.raises(UsageError, match="was not made here"):
        signature.sign(RunFolder.open(folder.path, root=tmp_path / "results"), signers.parent / "me")


def test_a_signature_that_is_not_over_the_manifest_is_remarked_upon_and_one_that_is_says_nothing(folder, signers):
    assert folder.remarks() == ()
    path = signature.sign(folder, signers.parent / "me")
    assert RunFolder(folder.path).remarks() == ()
    other = signers.parent / "other"
    other.write_text("something else")
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", signers.parent / "me", "-n", "orch-run", other], check=True)
    shutil.copy(f"{other}.sig", path)
    assert "does not match manifest.json" in summarise(RunFolder(folder.path)).warnings[-1]
    with path.open("wb") as sparse:
        sparse.truncate(1 << 40)
    assert "does not match manifest.json" in RunFolder(folder.path).remarks()[0]
    with pytest.raises(InvalidMeasurement, match="larger than"):
        signature.verify(folder, signers, "me@example.org")
