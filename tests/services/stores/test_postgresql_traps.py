"""Schemas, names, servers and environments that would lead orch to what is not its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import MissingError
from orchestrator.hosts.local import postgresql as server
from services.python.stores import postgresql, seed
from services.python.stores.base import Spent
from tests.support.postgresql import awaited

pytestmark = [pytest.mark.slow, pytest.mark.busy]


def test_a_server_of_ours_has_no_secrets_and_the_environment_leads_nobody_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    try:
        server.find()
    except MissingError as error:
        pytest.skip(error.message)
    for name, value in {
        "MY_TOKEN": "a secret of mine",
        "PGHOSTADDR": "127.0.0.9",
        "PGPORT": "9",
        "PGOPTIONS": "-c synchronous_commit=off",
    }.items():
        monkeypatch.setenv(name, value)
    with server.running(20) as (dsn, _):
        folder = Path(dsn.split()[0].removeprefix("host="))
        pid = int((folder / "data/postmaster.pid").read_text().splitlines()[0])
        assert b"secret" not in Path(f"/proc/{pid}/environ").read_bytes()
        assert (folder.parent / "log").stat().st_mode & 0o077 == 0
        assert "synchronous_commit" not in postgresql.seeded(dsn)[1]

        async def ask(store: Any, spent: Spent) -> None:
            assert await store.account(3, spent) == seed.accounts()[2]

        awaited(dsn, ask)
