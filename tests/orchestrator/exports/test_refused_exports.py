"""What `orch export` refuses, and that nothing is left where it did."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from orchestrator.errors import InvalidMeasurement, MissingError, UsageError
from tests.support.exported import SOUND, exported
from tests.support.runs import a_run, write_run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_run(a_run(blocks=2), tmp_path / "results" / SOUND)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "hint"),
    [("exel", "Did you mean excel?"), ("xlsx", "Did you mean excel?"), ("md", "Did you mean markdown?")],
)
def test_an_unknown_format_names_the_nearest(root: Path, name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"no format '{name}'") as refused:
        exported(root, SOUND, format=name)
    assert refused.value.hint == hint


def test_without_a_format_the_suffix_decides_and_one_that_says_nothing_is_refused(root: Path) -> None:
    assert exported(root, SOUND, out=root / "x.JSON")[0].is_file()
    with pytest.raises(UsageError, match="in which format"):
        exported(root, SOUND, out=root / "x.txt")
    with pytest.raises(UsageError, match="in which format"):
        exported(root, SOUND)


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
    for place in ("results", "link.csv"):
        with pytest.raises(UsageError, match="is no regular file"):
            exported(root, SOUND, format="csv", out=root / place, force=True)
    for place in ("file/x.csv", "/proc/x.csv"):
        with pytest.raises(MissingError, match=f"{place} cannot be used"):
            exported(root, SOUND, format="csv", out=root / place)
    assert not (root / "elsewhere.csv").exists()


@pytest.mark.parametrize("raw", [False, True])
def test_a_damaged_samples_file_is_named_and_nothing_is_left(root: Path, raw: bool) -> None:
    samples = next((root / "results" / SOUND / "samples").rglob("*.parquet"))
    samples.write_bytes(samples.read_bytes()[:-40])
    with pytest.raises(InvalidMeasurement, match=samples.name):
        exported(root, SOUND, format="csv", raw=raw, out=root / "new" / "x.csv")
    assert not (root / "new").exists() or list((root / "new").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "raw"), [("json", False), *((name, raw) for name in ("csv", "excel", "parquet") for raw in (False, True))]
)
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
