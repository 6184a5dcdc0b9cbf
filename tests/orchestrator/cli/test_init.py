"""The experiment that `orch init` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cli.experiments.start import starter


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put_schema(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schema.json").touch()


def named(file: str) -> str | None:
    """The schema that the file's first line names."""
    first = starter(Path(file)).partition("\n")[0]
    return first.partition("$schema=")[2] or None


def test_the_schema_is_named_where_it_is_and_nowhere_else():
    without = starter(Path("mine.yaml"))
    assert without.startswith("# An experiment: one question")
    assert "schema" not in without
    assert "\nname: mine\n" in without
    put_schema(Path("experiments"))
    assert starter(Path("mine.yaml")) == (f"# yaml-language-server: $schema=experiments/schema.json\n#\n{without}")


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        ("experiments/first.yaml", "schema.json"),
        ("experiments/more/first.yaml", "../schema.json"),
        ("elsewhere/first.yaml", "../experiments/schema.json"),
    ],
)
def test_the_schema_that_is_named_lies_there_as_seen_from_the_file(file, schema):
    put_schema(Path("experiments"))
    assert named(file) == schema
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    assert (Path(file).parent / schema).is_file()
