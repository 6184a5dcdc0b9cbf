from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from orchestrator.hosts.local.machine_lock import VARIABLE
from tests.support.session import (  # noqa: F401 - hooks
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_terminal_summary,
)

# By default an example that takes 200 ms fails its test, and so do examples that are slow to make, as on a busy machine.
settings.register_profile("no test depends on time", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no test depends on time")


@pytest.fixture(scope="session", autouse=True)
def own_machine_lock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests measure beside each other, and beside whatever else goes on here; no figure of theirs is kept."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(tmp_path_factory.mktemp("machine") / "lock")
    yield
    if before is None:
        del os.environ[VARIABLE]
    else:
        os.environ[VARIABLE] = before


@pytest.fixture(scope="session", autouse=True)
def signals_as_from_a_terminal() -> None:
    """No program that a test starts inherits an ignored signal, as under `nohup` or in a background job."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: to look through it again and again is a tenth of what the tests cost."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
