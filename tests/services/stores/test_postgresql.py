"""What is particular to PostgreSQL: its schema, which databases are refused and left as they are, and what fails amidst."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from orchestrator.hosts import processes
from orchestrator.hosts.local import postgresql as server
from services.python.contract.lines import Payload
from services.python.load.client import CallFailed
from services.python.operations import OPERATIONS
from services.python.stores import postgresql, seed
from services.python.stores.base import Spent, Store, StoreError
from services.python.stores.opening import opened
from tests.support import wire
from tests.support.ends import responder
from tests.support.postgresql import awaited, settings

pytestmark = [pytest.mark.slow, pytest.mark.busy]


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (["DELETE FROM orch_store.transactions WHERE number > 50000"], "10,000 accounts and 50,000 transactions, not"),
        (["TRUNCATE orch_store.transactions, orch_store.accounts"], "0 accounts and 0 transactions, not"),
        (["UPDATE orch_store.accounts SET owner = 'x' WHERE account = 9"], "other rows than the seed"),
        (["ALTER TABLE orch_store.accounts RENAME COLUMN seeded TO cents"], "UndefinedColumn"),
        (["DROP TABLE orch_store.transactions"], "UndefinedTable"),
        (["COMMENT ON SCHEMA orch_store IS 'mine'"], "that orch did not make"),
        (["DROP SCHEMA orch_store CASCADE", "CREATE SCHEMA orch_store"], "that orch did not make"),
    ],
)
def test_a_database_that_is_not_as_it_should_be_is_refused_and_left(database: str, harm: list[str], why: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        for statement in harm:
            connection.execute(statement.encode())

    def content() -> list[object]:
        with psycopg.connect(database) as connection:
            tables = connection.execute(
                "SELECT table_name, column_name FROM information_schema.columns"
                " WHERE table_schema = 'orch_store' ORDER BY 1, 2"
            ).fetchall()
            names = sorted({name for name, _ in tables})
            return [
                tables,
                *(connection.execute(b"SELECT count(*) FROM orch_store." + name.encode()).fetchone() for name in names),
            ]

    before = content()
    with pytest.raises(StoreError, match=why), opened(settings(database)):
        pass
    assert content() == before


@pytest.mark.parametrize(
    ("dsn_", "why"),
    [
        ("postgresql://me:secret@127.0.0.1:9/x", "at 127.0.0.1:9: OperationalError"),
        ("host=/nowhere dbname=x", "at /nowhere: OperationalError"),
        ("not a dsn, but a secret", "is no DSN of PostgreSQL"),
    ],
)
def test_an_address_that_does_not_answer_is_named_without_its_password(dsn_: str, why: str) -> None:
    with pytest.raises(StoreError, match=why) as refused, opened(settings(dsn_)):
        pass
    assert "secret" not in str(refused.value)


def test_connections_that_are_lost_amidst_are_errors_and_then_replaced(database: str) -> None:
    with opened(settings(database, pool=2)) as held:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'mine' AND pid <> pg_backend_pid()"
            )
        failed = [_asked(held.store) for _ in range(40)]
        assert any(failed)
        assert not failed[-1]
        assert all(re.search("AdminShutdown|OperationalError", why) for why in failed if why)


def _asked(store: Store) -> str:
    """Why an account cannot be had; empty where it is right."""
    try:
        assert store.account(1, Spent()) == seed.accounts()[0]
    except StoreError as error:
        time.sleep(0.05)  # the pool replaces what was lost
        return str(error)
    return ""


def test_asyncpg_says_what_fails(database: str) -> None:
    async def ask(store: Any, spent: Spent) -> None:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "ALTER TABLE orch_store.transactions ADD CONSTRAINT small CHECK (amount < 99 OR number < 100001)"
            )
        with pytest.raises(StoreError, match="CheckViolationError"):
            await store.pay(1, 2, 100, spent)
        assert await store.account(1, spent) == seed.accounts()[0]
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("ALTER TABLE orch_store.transactions DROP CONSTRAINT small")

    async def without_room(store: Any, spent: Spent) -> None:
        with pytest.raises(
            StoreError, match=r"TooManyConnections|ConnectionDoesNotExist|no connection to the database"
        ):
            await store.account(1, spent)

    awaited(database, ask)
    awaited(database, without_room, pool=200)


@pytest.mark.parametrize("protocol", ["rest", "graphql"])
@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
def test_a_responder_answers_and_tells_where_its_time_went(database: str, protocol: str, driver: str) -> None:
    resources = {**settings(database), "driver": driver}
    names = ["balance", "payment", "transactions", "accounts"]
    with responder(protocol, operations=names, resources=resources) as (program, ready):
        assert ready["settings"]["store"].startswith("PostgreSQL ")
        for name in names:
            request = OPERATIONS[name].requests(Payload(), 7)(1, time.time_ns)
            [(value, _)] = wire.ask(protocol, "pycurl", ready["port"], name, request)
            assert OPERATIONS[name].verify(request, value) is None
        told = program.stats()["store"]
    assert told["requests"] == 4
    assert told["database_s"] > 0
    parts = sum(told[f"{name}_s"] for name in ("queue", "pool", "database", "service"))
    assert parts <= told["handling_s"]


ROWS = {"interval_ns": 1_000_000, "count": 100_000, "after": 99_950}
SENDERS = [("websocket", "uvicorn", "aiohttp"), ("grpc", "grpcio", "grpc-aio"), ("graphqlws", "strawberry", "aiohttp")]


@pytest.mark.parametrize(("protocol", "implementation", "client"), SENDERS)
@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
def test_a_stream_follows_the_table_and_ends_with_the_reason_where_that_is_gone(
    database: str, protocol: str, implementation: str, client: str, driver: str
) -> None:
    found: list[dict[str, Any]] = []

    async def read(connection: Any) -> None:
        while (event := await connection.next_event()) is not None:
            found.append(event[0])
            if len(found) == 160:
                with psycopg.connect(database, autocommit=True) as other:
                    other.execute("ALTER TABLE orch_store.transactions RENAME TO gone")

    resources = {**settings(database, 2), "driver": driver}
    started = responder(protocol, implementation=implementation, operations=["activity"], resources=resources)
    with started as (program, ready):
        if (implementation, driver) == ("grpcio", "asyncpg"):
            with pytest.raises(CallFailed, match="this server has none"):
                wire.subscribing(protocol, client, ready["port"], "activity", ROWS, read)
            return
        with pytest.raises(CallFailed, match="UndefinedTable") as failed:
            wire.subscribing(protocol, client, ready["port"], "activity", ROWS, read)
        told = program.stats()
    assert failed.value.status == "protocol"
    assert len(found) >= 160
    assert len(found) % 100 == 50  # those of whole pages, the first of which ends with the table
    stream = OPERATIONS["activity"].stream
    assert all(stream.verify(ROWS, event) is None for event in found)
    assert told["store"]["requests"] == len(found)
    assert told["store"]["queries"] == 1 + (len(found) - 50) // 100
    assert told["store"]["database_s"] > 0
    assert told["events"]["sent"] == len(found)


@pytest.mark.usefixtures("installed")
def test_a_server_ends_with_its_run_and_leaves_nothing() -> None:
    with server.running(5) as (dsn, _):
        folder = Path(dsn.split()[0].removeprefix("host="))
        assert folder.stat().st_mode & 0o077 == 0
        pid = int((folder / "data/postmaster.pid").read_text().splitlines()[0])
    assert not folder.parent.exists()
    assert not Path(f"/proc/{pid}").exists()


_KILLED = """
import sys, time
from orchestrator.hosts.local import postgresql
with postgresql.running(5) as (dsn, _):
    print(dsn, flush=True)
    time.sleep(600)
"""


@pytest.mark.usefixtures("installed")
def test_a_killed_orch_takes_its_server_with_it() -> None:
    with tempfile.TemporaryDirectory() as kept:  # a short path: a Unix socket lies in it
        Path(kept).chmod(0o755)
        with subprocess.Popen(
            [sys.executable, "-c", _KILLED], env={**os.environ, "TMPDIR": kept}, stdout=subprocess.PIPE, text=True
        ) as orch:
            folder = Path(orch.stdout.readline().split()[0].removeprefix("host="))
            pid = int((folder / "data/postmaster.pid").read_text().splitlines()[0])
            orch.kill()
        until_s = time.monotonic() + 30
        while processes.started_at(pid) is not None and time.monotonic() < until_s:
            time.sleep(0.05)
        assert processes.started_at(pid) is None


@pytest.mark.usefixtures("installed")
def test_a_server_of_ours_has_no_secrets_and_the_environment_leads_nobody_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
