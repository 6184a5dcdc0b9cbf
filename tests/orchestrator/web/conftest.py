from __future__ import annotations

import warnings

import pytest

from orchestrator.workspace import Workspace
from tests.support.web import made_up


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Runs that tests only look at."""
    return made_up(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def own(tmp_path) -> Workspace:
    """A run that a test may change, and the one with samples."""
    return made_up(tmp_path, runs=1)


@pytest.fixture(autouse=True)
def quiet():
    """Starlette would rather have another client of HTTP below its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Using `httpx`")
        yield
