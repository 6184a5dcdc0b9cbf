"""Runs on fake hosts, in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.measure.run import Run


@pytest.fixture
def no_analysis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten equal samples make a poor report: leave analysis and report to their own tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Run, "_check", lambda self: None)
    monkeypatch.setattr(Run, "_report", lambda self: None)
