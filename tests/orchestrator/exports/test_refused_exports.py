"""What `orch export` refuses, and that nothing is left where it did."""

from __future__ import annotations

import json
import resource
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement, MissingError, OrchError, UsageError
from orchestrator.exports.excel import tab_name
from orchestrator.exports.writers import cell_text
from tests.support.exported import SOUND, exported
from tests.support.folders import begun
from tests.support.runs import a_run, write_run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_run(a_run(blocks=2), tmp_path / "results" / SOUND)
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "hint"),
    [("exel", "Did you mean excel?"), ("xlsx", "Did you mean excel?"), ("md", "Did you mean markdown?")],
)
def test_an_unknown_format_names_the_nearest(root: Path, asked: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"no format '{asked}'") as refused:
        exported(root, SOUND, format=asked)
    assert refused.value.hint == hint


def test_without_a_format_the_suffix_decides_and_one_that_says_nothing_is_refused(root: Path) -> None:
    assert exported(root, SOUND, out=root / "x.JSON")[0].is_file()
    with pytest.raises(UsageError, match="in which format"):
        exported(root, SOUND, out=root / "x.txt")
    with pytest.raises(UsageError, match="in which format"):
        exported(root, SOUND)
    with pytest.raises(UsageError, match="is not printed"):
        exported(root, SOUND, format="csv", out=Path("-"))


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_samples_are_not_for_pages(root: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} holds no row for each sample"):
        exported(root, SOUND, format=name, raw=True)


def test_a_file_is_replaced_by_force_alone(root: Path) -> None:
    target = root / "x.csv"
    target.write_text("mine")
    with pytest.raises(UsageError, match="exists") as refused:
        exported(root, SOUND, format="csv", out=target)
    assert "--force" in (refused.value.hint or "")
    assert target.read_text() == "mine"
    exported(root, SOUND, format="csv", out=target, force=True)
    assert target.read_text().startswith('"run",')


def test_a_folder_a_link_and_a_place_below_a_file_are_refused_whatever_is_said(root: Path) -> None:
    (root / "link.csv").symlink_to(root / "elsewhere.csv")
    (root / "file").write_text("mine")
    for place, why in (("results", "is a folder"), ("link.csv", "is a link"), ("file/x.csv", "is not a folder")):
        with pytest.raises(UsageError, match=why):
            exported(root, SOUND, format="csv", out=root / place, force=True)
    assert not (root / "elsewhere.csv").exists()


def test_missing_folders_are_made(root: Path) -> None:
    path, _ = exported(root, SOUND, format="csv", out=root / "a" / "b" / "x.csv")
    assert path.is_file()


def test_a_run_named_twice_is_refused(root: Path) -> None:
    with pytest.raises(UsageError, match="named twice"):
        exported(root, SOUND, "latest", format="csv")


def test_without_the_library_for_excel_the_way_on_is_said_and_nothing_is_left(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingError, match="XlsxWriter is not installed") as missing:
        exported(root, SOUND, format="excel", out=root / "new" / "x.xlsx")
    assert "make setup" in (missing.value.hint or "")
    assert list((root / "new").iterdir()) == []


@pytest.mark.parametrize("raw", [False, True])
def test_a_damaged_samples_file_is_named_and_nothing_is_left(root: Path, raw: bool) -> None:
    samples = next((root / "results" / SOUND / "samples").rglob("*.parquet"))
    samples.write_bytes(samples.read_bytes()[:-40])
    with pytest.raises(InvalidMeasurement, match=samples.name):
        exported(root, SOUND, format="csv", raw=raw, out=root / "new" / "x.csv")
    assert not (root / "new").exists() or list((root / "new").iterdir()) == []


def test_a_run_of_a_newer_version_is_refused(root: Path) -> None:
    manifest = root / "results" / SOUND / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "schema_version": 99}))
    with pytest.raises(OrchError, match=r"newer orch|not as it was written"):
        exported(root, SOUND, format="csv")


def test_a_run_without_a_finished_trial_is_refused(root: Path) -> None:
    run = a_run(blocks=2)
    trials = tuple(replace(t, outcome="failed", requesters=()) for t in run.stored.trials)
    run.stored = replace(run.stored, trials=trials)
    run.files = {name: of for name, of in run.files.items() if not name.startswith("samples/")}
    write_run(run, root / "results" / "none")
    with pytest.raises(InvalidMeasurement, match="no finished trial"):
        exported(root, "none", format="csv")


def test_a_run_in_progress_is_refused(tmp_path: Path) -> None:
    folder = begun(tmp_path / "results")
    with pytest.raises(UsageError, match="still in progress"):
        exported(tmp_path, folder.id, format="csv")
    folder.release()


def test_a_run_that_was_cut_is_not_called_complete(tmp_path: Path) -> None:
    run = a_run(blocks=3)
    stored = replace(run.stored, state="interrupted", trials=run.stored.trials[:-2])
    write_run(replace(run, stored=stored), tmp_path / "results" / "cut")
    path, said = exported(tmp_path, "cut", format="json", out=tmp_path / "x.json")
    assert "run cut was interrupted: 4 of 6 trials are stored" in said
    assert {row["state"] for row in json.loads(path.read_text())["cells"]} == {"interrupted"}
    page, _ = exported(tmp_path, "cut", out=tmp_path / "x.md")
    assert "State: interrupted." in page.read_text()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\uff1d1", "\n=1"])
def test_what_a_spreadsheet_might_run_stands_behind_an_apostrophe(text: str) -> None:
    assert cell_text(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "grpc", "a=b", " ", "1-2", "'x"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert cell_text(text) == text


def test_tabs_have_names_that_excel_takes() -> None:
    taken: list[str] = ["summary"]
    for name in ("Summary", "a" * 40, "a" * 41, "x/y:[z]", "", "'q'"):
        taken.append(tab_name(name, taken))
    assert taken == ["summary", "Summary 2", "a" * 31, "a" * 29 + " 2", "x-y--z-", "sheet", "q"]


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", ["csv", "excel", "json", "parquet"])
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_disk_that_takes_no_more_is_said_and_nothing_is_left(root: Path, name: str, raw: bool) -> None:
    (root / "exports").mkdir()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (10, 3_000):  # bytes of a file: the first write fails, or a later one
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
        try:
            with pytest.raises(MissingError, match=r"exports/.* cannot be used: File too large") as refused:
                exported(root, SOUND, format=name, raw=raw)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert "export again" in (refused.value.hint or "")
        assert list((root / "exports").iterdir()) == []
