from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from orchestrator.workspace import Workspace
from tests.support.web import client, made_up


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Runs that tests only look at."""
    return made_up(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def pages(shared) -> TestClient:
    """The pages over them."""
    return client(shared)
