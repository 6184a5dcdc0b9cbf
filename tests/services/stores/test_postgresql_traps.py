"""Schemas, names, servers and environments that would lead orch to what is not its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import MissingError
from orchestrator.hosts.local import postgresql as server
from services.python.stores import postgresql, seed
from services.python.stores.base import Spent, StoreError
from services.python.stores.opening import opened
from tests.support.postgresql import awaited, settings

pytestmark = [pytest.mark.slow, pytest.mark.busy]


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
def test_connections_to_another_server_than_the_verified_one_are_refused(
    database: str, driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = postgresql.held

    @contextmanager
    def another(dsn: str) -> Iterator[postgresql.Database]:
        with held(dsn) as found:
            yield replace(found, is_same=postgresql.IS_SAME.format("1763894000.5", 5))

    monkeypatch.setattr(postgresql, "held", another)
    monkeypatch.setattr("services.python.stores.postgresql.OPEN_S", 2.0)

    async def ask(store: Any, spent: Spent) -> None:
        await store.account(3, spent)

    def open_and_ask() -> None:
        if driver == "asyncpg":
            awaited(database, ask)
        else:
            with opened(settings(database)):
                pass

    with pytest.raises(StoreError, match="another server or database"):
        open_and_ask()


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
