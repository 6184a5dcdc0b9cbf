from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.report.dataset import made
from orchestrator.results.folder import RunFolder
from tests.support.runs import a_run, write_run


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    root = tmp_path_factory.mktemp("dataset") / "results"
    return RunFolder.open(write_run(a_run(blocks=3), root / "a-run"), root=root)


@pytest.fixture(scope="session")
def dataset(folder: RunFolder):
    return made.packed(folder)


@pytest.fixture(scope="session")
def text(dataset) -> str:
    """A report as `orch report` writes it."""
    return made.page(dataset)


@pytest.fixture
def report(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    return path
