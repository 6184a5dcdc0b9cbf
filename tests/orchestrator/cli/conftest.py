"""Verbs that are called as functions, in an empty folder."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from orchestrator.cli.console import console


class Output(io.StringIO):
    """Standard output of verbs."""

    def said(self) -> str:
        """What was printed since the last look."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Output:
    """What verbs print that are called in an empty folder; `console.err` has the rest."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "as_json", False)
    monkeypatch.setattr(console, "has_answered", False)
    for name in ("out", "err"):
        monkeypatch.setattr(console, name, Output())
    return console.out  # type: ignore[return-value]
