"""Schemas, names, servers and environments that would lead orch to what is not its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from orchestrator.errors import MissingError
from orchestrator.hosts.local import postgresql as server
from services.python.stores import postgresql, seed
from services.python.stores.base import Spent, StoreError
from services.python.stores.opening import opened
from tests.support.postgresql import awaited, settings

pytestmark = [pytest.mark.slow, pytest.mark.busy]

_MARK_TRUE = f"COMMENT ON SCHEMA orch_store IS '{postgresql.MARK}'"
_CHANGE = "INSERT INTO orch_store.transactions VALUES (100001, 1, 2, 3)"


@pytest.mark.parametrize(
    ("trap", "why"),
    [
        (
            ["CREATE RULE r AS ON DELETE TO orch_store.transactions DO ALSO DELETE FROM public.theirs", _CHANGE],
            "rule r on transactions",
        ),
        (
            [
                "CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql"
                " AS $$ BEGIN DELETE FROM public.theirs; RETURN NULL; END $$",
                "CREATE TRIGGER t AFTER DELETE ON orch_store.transactions EXECUTE FUNCTION public.f()",
                _CHANGE,
            ],
            "trigger t on transactions",
        ),
        (
            [
                _CHANGE,
                "ALTER TABLE public.theirs ADD FOREIGN KEY (of) REFERENCES orch_store.transactions ON DELETE CASCADE",
            ],
            "a foreign key of public.theirs",
        ),
        (
            [
                "CREATE TABLE public.more () INHERITS (orch_store.transactions)",
                "INSERT INTO public.more VALUES (100009, 1, 2, 3)",
            ],
            "inheritance of public.more",
        ),
        (
            [
                "DROP SCHEMA orch_store CASCADE",
                "CREATE SCHEMA orch_store",
                _MARK_TRUE,
                "CREATE VIEW orch_store.transactions AS"
                " SELECT of AS number, 1 AS payer, 2 AS payee, 3 AS amount FROM public.theirs",
                "CREATE VIEW orch_store.accounts AS SELECT 1 AS account, '' AS owner, 2 AS balance, 3 AS seeded",
            ],
            "column accounts.account integer",
        ),
    ],
)
def test_a_schema_that_leads_to_what_is_not_ours_is_refused_and_changes_nothing(
    database: str, trap: list[str], why: str
) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE public.theirs (of integer)")
        for statement in [*trap[:-1], "INSERT INTO public.theirs VALUES (100001)", trap[-1]]:
            connection.execute(statement.encode())
    with pytest.raises(StoreError, match=re.escape(why)), opened(settings(database)):
        pass
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT of FROM public.theirs").fetchall() == [(100001,)]
        if "more" in why:
            assert connection.execute("SELECT count(*) FROM public.more").fetchone() == (1,)


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
