"""Go's accounts over PostgreSQL: the same rows and the same schema as Python's, and nothing that leads it elsewhere."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from orchestrator.hosts.local import postgresql as server
from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.operations import OPERATIONS
from services.python.stores import postgresql, seed
from tests.support import wire
from tests.support.go_ends import GoProgram, go_responder, refusal_of_go

pytestmark = [pytest.mark.slow, pytest.mark.busy]

NAMES = ["balance", "payment", "transactions", "accounts"]
CLIENTS = {"rest": "pycurl", "grpc": "grpcio"}


def settings(dsn: str, pool: int = 4) -> dict[str, str]:
    return {"store": "postgresql", "database": dsn, "pool": str(pool), "driver": "pgx"}


def ask(port: int, name: str, **request: int) -> dict[str, Any]:
    """The reply of REST; what it says where it refuses, under `error`."""
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/{name}", data=json.dumps(request).encode(), method="POST")
    try:
        with urllib.request.urlopen(asked, timeout=40) as reply:
            found: dict[str, Any] = json.load(reply)
            return found
    except urllib.error.HTTPError as error:
        return {"error": error.read().decode()}


def account(number: int) -> dict[str, Any]:
    return dict(zip(("account", "owner", "balance"), seed.accounts()[number - 1], strict=True))


@pytest.mark.parametrize("protocol", ["rest", "grpc"])
def test_it_answers_and_tells_where_its_time_went(database: str, protocol: str) -> None:
    with go_responder(protocol, operations=NAMES, resources=settings(database)) as (program, ready):
        assert ready["settings"]["store"].startswith("PostgreSQL ")
        assert ready["settings"]["driver"].startswith("pgx 5.")
        for name in NAMES:
            request = OPERATIONS[name].requests(Payload(), 7)(1, time.time_ns)
            [(value, _)] = wire.ask(protocol, CLIENTS[protocol], ready["port"], name, request)
            assert OPERATIONS[name].verify(request, value) is None
        program.send("stats")
        told = program.read()["store"]
    assert (told["requests"], told["storeless"]) == (4, 0)
    assert told["database_s"] > 0
    parts = sum(told[f"{name}_s"] for name in ("queue", "pool", "database", "service"))
    assert 0.95 * told["handling_s"] <= parts <= 1.0001 * told["handling_s"]


def test_what_it_seeds_is_what_python_seeds_and_payments_are_undone(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP SCHEMA orch_store CASCADE")
    for _ in range(2):
        with go_responder(operations=["payment", "balance"], resources=settings(database)) as (_, ready):
            assert ask(ready["port"], "balance", account=1) == account(1)
            made = ask(ready["port"], "payment", payer=1, payee=2, amount=30)
            assert made == {"accepted": True, "payment": 100_001, "balance": account(1)["balance"] - 30}
            declined = ask(ready["port"], "payment", payer=1, payee=2, amount=2**31 - 1)
            assert declined == {"accepted": False, "payment": 0, "balance": made["balance"]}
            for wrong in ({"payer": 3, "payee": 3}, {"payer": 3, "payee": 10_001}):
                assert "error" in ask(ready["port"], "payment", amount=1, **wrong)
    assert postgresql.seeded(database)[0] is False


def test_payments_at_once_lose_no_cent_and_wait_for_the_one_connection(database: str) -> None:
    with go_responder(operations=NAMES, resources=settings(database, pool=1)) as (program, ready):

        def pay(turn: int) -> dict[str, Any]:
            payer, payee = (8, 9) if turn % 2 else (9, 8)
            return ask(ready["port"], "payment", payer=payer, payee=payee, amount=1)

        with ThreadPoolExecutor(8) as threads:
            made = list(threads.map(pay, range(80)))
        assert len({each["payment"] for each in made}) == 80
        assert [ask(ready["port"], "balance", account=number) for number in (8, 9)] == [account(8), account(9)]
        program.send("stats")
        assert program.read()["store"]["pool_s"] > 0


MARK = f"COMMENT ON SCHEMA orch_store IS '{postgresql.MARK}'"
LEFT = "It is left as it is"


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (["DELETE FROM orch_store.transactions WHERE number > 50000"], "10000 accounts and 50000 transactions, not"),
        (["UPDATE orch_store.accounts SET owner = 'x' WHERE account = 9"], "other rows than the seed"),
        (["DROP INDEX orch_store.transactions_of_payer"], "there is no CREATE INDEX transactions_of_payer"),
        (["ALTER TABLE orch_store.transactions SET UNLOGGED"], "that is not logged"),
        (["CREATE ROLE another", "ALTER TABLE orch_store.accounts OWNER TO another"], "of another role"),
        (["DROP SCHEMA orch_store CASCADE", "CREATE SCHEMA orch_store"], "that orch did not make"),
        (
            ["CREATE RULE r AS ON DELETE TO orch_store.transactions DO ALSO DELETE FROM public.theirs"],
            "rule r on transactions",
        ),
        (
            [
                "CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql"
                " AS $$ BEGIN DELETE FROM public.theirs; RETURN NULL; END $$",
                "CREATE TRIGGER t AFTER DELETE ON orch_store.transactions EXECUTE FUNCTION public.f()",
            ],
            "trigger t on transactions",
        ),
        (
            ["CREATE TABLE public.more () INHERITS (orch_store.transactions)"],
            "inheritance of public.more",
        ),
    ],
)
def test_a_schema_that_is_not_as_orch_makes_it_is_refused_and_nothing_changes(
    database: str, harm: list[str], why: str
) -> None:
    change = "INSERT INTO orch_store.transactions VALUES (100001, 1, 2, 3)"  # orch would delete it
    with psycopg.connect(database, autocommit=True) as connection:
        for statement in (
            "CREATE TABLE public.theirs (of integer)",
            "INSERT INTO public.theirs VALUES (100001)",
            *harm,
        ):
            connection.execute(statement.encode())
        if "public" in harm[0]:
            connection.execute(change.encode())
    assert why in refusal_of_go(operations=NAMES, resources=settings(database))
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT of FROM public.theirs").fetchall() == [(100001,)]
        if "public" in harm[0]:
            found = connection.execute("SELECT count(*) FROM orch_store.transactions WHERE number > 100000").fetchone()
            assert found == (1,)


def test_names_of_somebody_else_are_not_taken_for_those_of_postgresql(database: str) -> None:
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
    by_options = database.replace("options=''", "options='-c search_path=evil,pg_catalog'")
    assert by_options != database
    for dsn in (database, by_options):
        with go_responder(operations=NAMES, resources=settings(dsn)) as (_, ready):
            assert ask(ready["port"], "balance", account=3) == account(3)
            assert ask(ready["port"], "payment", payer=1, payee=2, amount=3)["accepted"]
    with psycopg.connect(database, autocommit=True, options="-c search_path=pg_catalog") as connection:
        assert connection.execute("SELECT x FROM evil.theirs").fetchall() == [(1,)]


def test_the_environment_leads_nobody_elsewhere(database: str) -> None:
    env = {
        "PGHOST": "127.0.0.9",
        "PGHOSTADDR": "127.0.0.9",
        "PGPORT": "9",
        "PGDATABASE": "nowhere",
        "PGSERVICE": "theirs",
        "PGSERVICEFILE": "/nowhere",
        "PGOPTIONS": "-c synchronous_commit=off",
        "PGTARGETSESSIONATTRS": "read-only",
    }
    for dsn in (database, database.replace(" port=5432", "")):
        with go_responder(operations=NAMES, resources=settings(dsn), env=env) as (_, ready):
            assert "synchronous_commit" not in ready["settings"]["store"]
            assert ask(ready["port"], "balance", account=3) == account(3)


def test_settings_that_make_payments_faster_and_less_safe_are_told(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("ALTER DATABASE mine SET synchronous_commit = off")
    with go_responder(operations=NAMES, resources=settings(database)) as (_, ready):
        assert ready["settings"]["store"].endswith(", synchronous_commit=off")


def test_a_connection_to_another_server_than_the_verified_one_is_refused(dsn: str) -> None:
    """The first of two servers ends: what is left is another one, and answers nobody, though it has the same rows."""
    with ExitStack() as first, server.running(20) as (second, _):
        gone, _ = first.enter_context(server.running(20))
        assert postgresql.seeded(second)[0]
        here, there = (each.split()[0].removeprefix("host=") for each in (gone, second))
        both = f"host={here},{there} port=5432,5432 dbname=postgres user=orch"
        with go_responder(operations=NAMES, resources=settings(both, 2)) as (program, ready):
            assert ask(ready["port"], "balance", account=3) == account(3)
            first.close()
            said = [ask(ready["port"], "balance", account=3).get("error", "") for _ in range(4)]
            assert all("the database: " in each for each in said)
            assert "another server or database" in said[-1]
            program.process.terminate()
            assert program.process.wait(20) == 0


@pytest.mark.parametrize(
    ("protocol", "client"), [("rest", "go-net-http"), ("grpc", "grpc-go"), ("connect", "connect-go")]
)
def test_a_database_that_is_gone_ends_the_trial_with_the_reason(
    dsn: str, tmp_path: Path, protocol: str, client: str
) -> None:
    with ExitStack() as running:
        own, _ = running.enter_context(server.running(20))
        with go_responder(protocol, operations=NAMES, resources=settings(own)) as (_, ready):
            trial = Trial(
                protocol=protocol,
                client=client,
                operation="balance",
                target=Target(host="127.0.0.1", port=ready["port"], identity="nonce"),
                load=Load(concurrency=4, duration_s=60),
                warmup=Warmup(requests=10, at_least_s=0),
                record=str(tmp_path / "record"),
                timeout_s=10,
                seed=1,
            )
            requester = GoProgram(role="request")
            try:
                requester.send(trial.to_json())
                while requester.read()["type"] != "start":
                    pass
                running.close()
                status, lines, _ = requester.ended_by_itself()
            finally:
                requester.stop()
    assert (status, lines[-1]["type"], lines[-1]["kind"]) == (1, "failed", "protocol")
    assert "the database: " in lines[-1]["message"]


def test_connections_that_are_lost_amidst_are_errors_and_then_replaced(database: str) -> None:
    with go_responder(operations=NAMES, resources=settings(database, 2)) as (_, ready):
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'mine' AND pid <> pg_backend_pid()"
            )
        failed = []
        for _ in range(40):
            failed.append(ask(ready["port"], "balance", account=1).get("error"))
            time.sleep(0.02)
        assert failed[-1] is None
        assert all("the database: " in why for why in failed if why)


def test_what_violates_a_constraint_is_said_and_nothing_is_kept(database: str) -> None:
    with go_responder(operations=NAMES, resources=settings(database)) as (_, ready):
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "ALTER TABLE orch_store.transactions ADD CONSTRAINT small CHECK (amount < 99 OR number < 100001)"
            )
        assert "SQLSTATE 23514" in ask(ready["port"], "payment", payer=1, payee=2, amount=100)["error"]
        assert ask(ready["port"], "balance", account=1) == account(1)
        assert ask(ready["port"], "payment", payer=1, payee=2, amount=3)["accepted"]


@pytest.mark.parametrize(
    ("database_", "why"),
    [
        ("postgresql://me:secret@127.0.0.1:9/x", "the database x at 127.0.0.1:9: "),
        ("host=/nowhere dbname=x password=secret", "the database x at /nowhere: "),
        ("not a dsn, but a secret", "is no DSN of PostgreSQL"),
        ("postgresql://me:secret/two@127.0.0.1:9/x", "is no DSN of PostgreSQL"),
        ("host=127.0.0.1 port=9 dbname=x password=my secret=1", "is no DSN of PostgreSQL"),
        ("host=127.0.0.1 hostaddr=127.0.0.2 password=secret", "pgx takes no hostaddr"),
        ("host=127.0.0.1 dbname=x password=secret pool_max_conns=3", "is no DSN of PostgreSQL"),
    ],
)
def test_an_address_that_does_not_do_is_named_without_its_password(database_: str, why: str) -> None:
    said = refusal_of_go(operations=NAMES, resources=settings(database_))
    assert why in said
    assert "secret" not in said
    assert "two" not in said


def test_more_connections_than_the_server_gives_are_refused(database: str) -> None:
    said = refusal_of_go(operations=NAMES, resources=settings(database, 200))
    assert "gave fewer than 200 connections" in said
    assert "too many clients" in said or "reserved" in said


def test_a_database_that_another_responder_asks_is_refused(database: str) -> None:
    with go_responder(operations=NAMES, resources=settings(database)):
        assert "in use by another responder" in refusal_of_go(operations=NAMES, resources=settings(database))
    assert not postgresql.seeded(database)[0]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"operations": ["balance"], "resources": {"store": "sqlite", "database": "x"}}, "not in"),
        (
            {"operations": ["balance"], "resources": {"store": "postgresql", "database": "x", "driver": "psycopg"}},
            "by pgx here",
        ),
        ({"operations": ["balance"], "resources": {"store": "postgresql"}}, "needs a database"),
        ({"operations": ["balance"], "resources": {"store": "none", "pool": "4"}}, "takes no pool"),
        ({"operations": ["balance"], "resources": {"store": "postgresql", "database": "x", "pool": "+4"}}, "1 to 1000"),
        ({"operations": ["feed"], "resources": {"store": "postgresql", "database": "x"}}, "in memory alone"),
        ({"operations": ["feed"], "resources": {"driver": "pgx"}}, "no operation here needs"),
        ({"operations": ["add"], "resources": {"store": "none"}}, "no operation here needs"),
    ],
)
def test_what_it_does_not_keep_is_refused(more: dict[str, Any], why: str) -> None:
    assert why in refusal_of_go(**more)


def test_an_operation_that_was_not_named_holds_nothing() -> None:
    with go_responder(operations=["add"]) as (program, ready):
        assert "not among the operations" in ask(ready["port"], "balance", account=1)["error"]
        program.send("stats")
        assert program.read()["store"] is None
