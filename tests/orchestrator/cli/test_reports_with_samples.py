"""`orch report`, `verify`, `sign` and `merge` of reports that carry their samples, as a person calls them."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli import merge, report, sign, verify
from orchestrator.cli.console import console
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.results.folder import RunFolder
from tests.support.runs import a_plan, a_run, write_run


def a_folder(root: Path, name: str, seed: int) -> Path:
    run = a_run(a_plan(blocks=3), seed=seed)
    trials = tuple(replace(t, started_wall_ns=t.started_wall_ns + seed * 10**12) for t in run.stored.trials)
    return write_run(replace(run, stored=replace(run.stored, trials=trials)), root / "results" / name)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "as_json", False)
    a_folder(tmp_path, "20231114-221320-one-0000", 1)
    return tmp_path


@pytest.fixture
def out(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    monkeypatch.setattr(console, "out", io.StringIO())
    return console.out


def said(out: io.StringIO) -> str:
    """What was printed since the last look."""
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text


def printed(out) -> dict:
    return json.loads(said(out))


def made(printer, /, **options) -> Path:
    report.command(["latest"], as_json=True, **options)
    return Path(printed(printer)["reports"][0]["report"])


def test_a_report_is_written_verified_and_written_again(here, out):
    path = made(out)
    assert path.parent == Path("reports")
    verify.command(str(path))
    text = said(out)
    assert "its figures follow from all 7,620 samples" in text
    assert "the whole page was compared" in text
    shutil.rmtree(here / "results")
    report.command([str(path)], as_json=True)
    again = Path(printed(out)["reports"][0]["report"])
    assert again.parent == Path("reports/elsewhere")
    assert again.read_text() == path.read_text()


def test_an_edited_figure_ends_with_5_and_is_named(here, out):
    path = made(out)
    text = path.read_text()
    cell = re.search(r'<tr id="cell-grpc.*?<td class="key"><data value="[^"]*">([^<]*)', text, re.S)
    assert cell is not None
    path.write_text(text.replace(cell[0], cell[0].removesuffix(cell[1]) + "0.01"))
    with pytest.raises(InvalidMeasurement, match="do not follow from the samples") as refused:
        verify.command(str(path), as_json=True)
    assert "shown 0.01, recomputed" in "\n".join(refused.value.lines)
    assert refused.value.details["differences"][0]["shown"] == "0.01"


def test_names_cannot_be_had_back(here, out):
    path = made(out)
    with pytest.raises(UsageError, match="carries no names"):
        report.command([str(path)], keep_names=True)
    kept = made(out, keep_names=True, out=Path("kept.html"))
    report.command([str(kept)], keep_names=True, out=Path("again.html"))
    assert Path("again.html").read_text() == kept.read_text()


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not here")
def test_a_signature_travels_with_the_samples_and_covers_them(here, out):
    for name in ("me", "stranger"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", name], check=True)
    Path("signers").write_text(f"me@example.org {Path('me.pub').read_text()}")
    unsigned = made(out, out=Path("unsigned.html"))
    with pytest.raises(InvalidMeasurement, match="carries no signature"):
        verify.command(str(unsigned), signers=Path("signers"), by="me@example.org")
    sign.command(key=Path("me"))
    said(out)
    signed = made(out, out=Path("signed.html"))
    verify.command(str(signed), signers=Path("signers"), by="me@example.org")
    assert "signed by me@example.org" in said(out)
    kept = made(out, keep_names=True, out=Path("kept.html"))
    verify.command(str(kept), signers=Path("signers"), by="me@example.org")
    said(out)
    with pytest.raises(InvalidMeasurement, match="the signature is not other@"):
        verify.command(str(signed), signers=Path("signers"), by="other@example.org")
    sign.command(key=Path("stranger"))
    said(out)
    with pytest.raises(InvalidMeasurement, match="the signature is not me@"):
        verify.command(str(made(out)), signers=Path("signers"), by="me@example.org")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not here")
def test_samples_and_page_forged_alike_pass_all_but_the_signature(here, out, tmp_path):
    from orchestrator.report.dataset import block, rows
    from orchestrator.report.dataset.made import page

    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "me"], check=True)
    Path("signers").write_text(f"me@example.org {Path('me.pub').read_text()}")
    sign.command(key=Path("me"))
    said(out)
    dataset = block.read_page(made(out)).dataset
    columns = {path: dict(of) for path, of in dataset.columns.items()}
    for path, of in columns.items():
        if "cell=grpc" in path:
            of["received_ns"] = of["received_ns"] - 1_000
    about, packed = rows.pack(columns, {of.path: of.of for of in dataset.about.rows})
    forged = replace(dataset, about=replace(dataset.about, rows=about), packed=packed, columns=columns)
    Path("forged.html").write_text(page(forged))
    verify.command("forged.html")
    with pytest.raises(InvalidMeasurement, match="carries no signature of its samples"):
        verify.command("forged.html", signers=Path("signers"), by="me@example.org")


def test_two_machines_are_merged_from_their_reports(here, out):
    first = made(out, out=Path("a.html"))
    a_folder(here, "20231115-000000-two-0000", 2)
    second = made(out, out=Path("b.html"))
    merge.command([str(first), str(second)], as_json=True)
    found = printed(out)
    assert [machine["run_id"][-8:] for machine in found["machines"]] == ["one-0000", "two-0000"]
    assert found["ratios"][0]["agreement"] == "agree"
    assert Path(found["page"]).read_text().startswith("<!DOCTYPE html>")
    merge.command([str(first), "20231115-000000-two-0000"], out=Path("m.html"))
    text = said(out)
    assert "faster on all 2" in text
    assert "page  m.html" in text
    with pytest.raises(UsageError, match="given twice"):
        merge.command([str(first), "20231114-221320-one-0000"])


def test_a_report_that_is_not_there_is_a_usage_error(here):
    for call in (lambda: verify.command("no.html"), lambda: report.command(["no.html"])):
        with pytest.raises(UsageError, match="there is no file"):
            call()


def test_what_the_run_folder_holds_is_not_changed_by_reporting(here, out):
    folder = RunFolder.open("latest", root=Path("results"))
    before = folder.manifest_bytes()
    made(out)
    assert folder.manifest_bytes() == before
