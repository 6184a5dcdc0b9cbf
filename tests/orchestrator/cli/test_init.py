"""The experiment that `orch init` writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.cli.init import starter

OURS = json.dumps({"title": "An orch experiment"})


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put_schema(folder: Path, text: str = OURS) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schema.json").write_text(text)


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


def test_a_schema_beside_the_file_is_enough(here):
    put_schema(here / "far" / "away")
    assert named(str(here / "far" / "away" / "first.yaml")) == "schema.json"


@pytest.mark.parametrize("text", ['{"title": "Another program\'s"}', "not JSON", "[]"])
def test_another_programs_schema_is_not_named(text):
    put_schema(Path("experiments"), text)
    assert named("experiments/first.yaml") is None


def test_behind_a_link_the_way_back_is_another_one_and_no_schema_is_named(here):
    put_schema(Path("experiments"))
    (here / "deep" / "down").mkdir(parents=True)
    (here / "short").symlink_to(here / "deep" / "down")
    assert named("short/first.yaml") is None
    assert named("deep/down/first.yaml") == "../../experiments/schema.json"
