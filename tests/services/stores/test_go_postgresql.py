"""Go's accounts over PostgreSQL: the same rows and the same schema as Python's, and nothing that leads it elsewhere."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from orchestrator.hosts.local import postgresql as server
from services.python.contract.lines import Load, Payload, Warmup
from services.python.operations import OPERATIONS
from services.python.stores import postgresql, seed
from tests.support import wire
from tests.support.ends import trial_of
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
            return json.load(reply)
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
        told = program.stats()["store"]
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
        (["CREATE TABLE public.more () INHERITS (orch_store.transactions)"], "inheritance of public.more"),
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


@pytest.mark.parametrize(
    ("protocol", "client"), [("rest", "go-net-http"), ("grpc", "grpc-go"), ("connect", "connect-go")]
)
def test_a_database_that_is_gone_ends_the_trial_with_the_reason(
    dsn: str, tmp_path: Path, protocol: str, client: str
) -> None:
    with ExitStack() as running:
        own, _ = running.enter_context(server.running(20))
        with go_responder(protocol, operations=NAMES, resources=settings(own)) as (_, ready):
            trial = trial_of(
                protocol,
                client,
                ready["port"],
                tmp_path / "record",
                operation="balance",
                load=Load(concurrency=4, duration_s=60),
                warmup=Warmup(requests=10, at_least_s=0),
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


def test_a_database_that_another_responder_asks_is_refused(database: str) -> None:
    with go_responder(operations=NAMES, resources=settings(database)):
        assert "in use by another responder" in refusal_of_go(operations=NAMES, resources=settings(database))
    assert not postgresql.seeded(database)[0]
