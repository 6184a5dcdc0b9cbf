"""Schemas, names, servers and environments that would lead orch to what is not its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from orchestrator.errors import MissingError
from orchestrator.hosts.local import postgresql as server
from services.python.stores import postgresql, seed
from services.python.stores.base import Spent
from services.python.stores.opening import opened
from tests.support.postgresql import awaited, settings

pytestmark = [pytest.mark.slow, pytest.mark.busy]


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
def test_names_of_somebody_else_are_not_taken_for_those_of_postgresql(database: str, driver: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        for statement in (
            "CREATE SCHEMA evil",
            "CREATE TABLE evil.theirs (x integer)",
            "INSERT INTO evil.theirs VALUES (1)",
            "CREATE FUNCTION evil.less(integer, integer) RETURNS boolean LANGUAGE plpgsql"
            " AS $$ BEGIN DELETE FROM evil.theirs; RETURN false; END $$",
            "CREATE OPERATOR evil.= (LEFTARG = integer, RIGHTARG = integer, FUNCTION = evil.less)",
            "CREATE OPERATOR evil.> (LEFTARG = integer, RIGHTARG = integer, FUNCTION = evil.less)",
            "CREATE FUNCTION evil.pg_advisory_lock(integer) RETURNS void LANGUAGE sql AS 'DELETE FROM evil.theirs'",
            "ALTER DATABASE mine SET search_path = evil, pg_catalog",
        ):
            connection.execute(statement.encode())

    async def ask(store: Any, spent: Spent) -> None:
        assert await store.account(3, spent) == seed.accounts()[2]

    if driver == "psycopg":
        with opened(settings(database)) as held:
            assert held.store.account(3, Spent()) == seed.accounts()[2]
            assert held.store.pay(1, 2, 3, Spent()).accepted
    else:
        awaited(database, ask)
    with psycopg.connect(database, autocommit=True, options="-c search_path=pg_catalog") as connection:
        assert connection.execute("SELECT x FROM evil.theirs").fetchall() == [(1,)]


def test_settings_that_make_payments_faster_and_less_safe_are_told(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("ALTER DATABASE mine SET synchronous_commit = off")
    with opened(settings(database)) as held:
        assert held.settings["store"].endswith(", synchronous_commit=off")


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
