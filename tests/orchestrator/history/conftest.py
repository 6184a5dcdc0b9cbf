from __future__ import annotations

import io
from pathlib import Path

import pytest

from orchestrator.cli.console import console


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls are made in an empty folder of their own."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(console, "as_json", False)
    monkeypatch.setattr(console, "out", io.StringIO())
    monkeypatch.setattr(console, "err", io.StringIO())
    monkeypatch.setenv("COLUMNS", "200")
