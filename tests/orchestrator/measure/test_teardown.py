from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from orchestrator.hosts.lifecycle import Receipt
from orchestrator.hosts.provision import deployments
from orchestrator.hosts.provision.deployments import Registry
from orchestrator.measure import teardown as ending
from orchestrator.results.folder import RunFolder
from orchestrator.workspace import Workspace
from tests.support.hosts import FakeTime
from tests.support.plans import plan

HERE = Workspace()
REGISTRY = Registry(HERE.deployments)
PLAN = plan("tcp")


@pytest.fixture
def down(tmp_path, monkeypatch) -> list[str]:
    """An empty working folder; what is taken down there, by run id, is noted and not done."""
    monkeypatch.chdir(tmp_path)
    taken: list[str] = []

    def take(_registry: Registry, intent):
        taken.append(intent.run_id)
        return Receipt(provider=intent.provider, created=("a",), destroyed=("a",), left=())

    class Local:
        def __init__(self, folder):
            self._folder = folder

        def teardown(self):
            taken.append(self._folder.id)
            return Receipt(provider="local", created=(), destroyed=(), left=())

    monkeypatch.setattr(ending, "take_down", take)
    monkeypatch.setattr(ending, "open_deployment", lambda _plan, folder, _workspace: Local(folder))
    return taken


def killed(at_s: float = 1_795_229_802.0) -> RunFolder:
    folder = RunFolder.create(PLAN, command=["orch", "run"], root=Path("results"), now=FakeTime(at_s).clock())
    folder.release()
    return folder


def deployed(folder: RunFolder) -> None:
    """Hosts of that run are written down as being up."""
    REGISTRY.write(
        deployments.Intent(
            id=deployments.deployment_id(folder.id),
            run_id=folder.id,
            provider="lab",
            hosts=("a",),
            created_at=time.time(),
            expires_at=time.time() + 3600,
            cost_usd_per_h=0.0,
            state="up",
        )
    )


def test_a_deployment_is_taken_down_whatever_became_of_the_run_folder(down):
    mine = killed()
    deployed(mine)
    shutil.rmtree(mine.path)
    assert ending.end(HERE, mine.id).receipt is not None
    assert down == [mine.id]
