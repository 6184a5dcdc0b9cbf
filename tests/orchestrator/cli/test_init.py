"""The experiment that `orch init` writes."""

from __future__ import annotations

from pathlib import Path

from orchestrator.cli.init import starter


def test_the_schema_is_named_where_it_is_and_nowhere_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    without = starter(Path("mine.yaml"))
    assert without.startswith("# An experiment: one question")
    assert "schema" not in without
    assert "\nname: mine\n" in without
    Path("experiments").mkdir()
    Path("experiments", "schema.json").write_text("{}")
    assert starter(Path("mine.yaml")) == (f"# yaml-language-server: $schema=experiments/schema.json\n#\n{without}")
