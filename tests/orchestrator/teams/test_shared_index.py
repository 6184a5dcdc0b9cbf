"""What a team's index does with two who publish at once, with another's tables, and where it cannot be reached."""

from __future__ import annotations

import contextlib
import hashlib
import io
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from orchestrator.cli import runs
from orchestrator.cli.console import console
from orchestrator.errors import MissingError, OrchError, UsageError
from orchestrator.history import postgresql, read
from orchestrator.history.filters import Filters
from orchestrator.history.record import Note, RunRecord
from orchestrator.results.folder import RunFolder
from tests.support.past import a_past_run
from tests.support.team_index import a_server

SECRET = "hunter2-is-long"


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with a_server() as found:
        yield found


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    root = tmp_path_factory.mktemp("one")
    return read.read_run(RunFolder(a_past_run(root / "results" / "one")))


@pytest.fixture
def schema(request: pytest.FixtureRequest) -> str:
    return f"t{hashlib.sha256(request.node.name.encode()).hexdigest()[:20]}"


def ids(dsn: str, schema: str) -> list[str]:
    with postgresql.shared(dsn, schema, access="read") as index:
        return [run.id for run in index.runs(Filters())]


def test_publishing_twice_is_nothing_and_another_run_of_the_id_is_refused(
    dsn: str, schema: str, record: RunRecord
) -> None:
    other = replace(record, manifest_sha256="0" * 64, name="other")
    with postgresql.shared(dsn, schema, access="make") as index:
        assert index.publish(record, tags=["a"], notes=[Note(at="", text="x")]) == "published"
        assert index.publish(record) == "there already"
        with pytest.raises(UsageError, match="holds another run one") as refused:
            index.publish(other)
        assert "--replace" in (refused.value.hint or "")
        (kept,) = index.runs(Filters())
        assert (kept.name, kept.tags) == (record.name, ("a",))
        assert index.publish(other, tags=["b"], replace=True) == "replaced"
        (kept,) = index.runs(Filters())
        assert (kept.name, kept.tags, kept.notes) == ("other", ("b",), ())
        assert index.withdraw("one")
        assert not index.withdraw("one")
        assert index.runs(Filters()) == []
        assert index.cells() == []


def test_people_who_publish_at_once_lose_nothing_and_make_the_tables_once(
    dsn: str, schema: str, record: RunRecord
) -> None:
    begin, errors = threading.Barrier(6), []

    def publish(number: int) -> None:
        begin.wait()
        try:
            with postgresql.shared(dsn, schema, access="make") as index:
                for name in (f"own-{number}", "one-of-all"):
                    index.publish(replace(record, id=name))
        except OrchError as error:
            errors.append(error.message)

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(ids(dsn, schema)) == ["one-of-all", *(f"own-{number}" for number in range(6))]


def test_a_publication_that_is_cut_leaves_nothing(
    dsn: str, schema: str, record: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = replace(record, cells=(replace(record.cells[0], median="no number"),))  # type: ignore[arg-type]
    with postgresql.shared(dsn, schema, access="make"):
        pass
    with pytest.raises(MissingError), postgresql.shared(dsn, schema, access="make") as index:
        index.publish(broken)
    assert ids(dsn, schema) == []


def test_text_that_postgresql_cannot_hold_is_kept_as_it_can_be(dsn: str, schema: str, record: RunRecord) -> None:
    name = "<script>'; DROP SCHEMA public; -- \0 \ud800 %s ? ä"
    with postgresql.shared(dsn, schema, access="make") as index:
        index.publish(replace(record, id="../a=b%2F", name=name))
        (kept,) = index.runs(Filters())
    assert kept.name == name.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
    assert kept.id == "../a=b%2F"


@pytest.mark.parametrize(
    "change",
    [
        "runs SET hosts = '{'",
        "runs SET stacks = '3'",
        "runs SET kind = 'virus'",
        "cells SET evidence = '[]'",
        'cells SET evidence = \'{"means": {"median": [1, "x", 2]}, "above_ping": {}, "floors": {}, "noise": {}}\'',
        "environments SET conditions = '[[1]]'",
    ],
)
def test_rows_that_no_orch_wrote_are_said(dsn: str, schema: str, record: RunRecord, change: str) -> None:
    with postgresql.shared(dsn, schema, access="make") as index:
        index.publish(record)
    table, _, rest = change.partition(" ")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"UPDATE {schema}.{table} {rest}")

    def read_all() -> None:
        with postgresql.shared(dsn, schema, access="read") as index:
            index.runs(Filters())
            index.seen("grpc-thin", Filters(run="one"))

    with pytest.raises(MissingError, match="a row that orch did not write"):
        read_all()


def strange(dsn: str, schema: str) -> None:
    for access in ("make", "read", "change"):
        with pytest.raises(UsageError, match="left as it is"), postgresql.shared(dsn, schema, access=access):  # type: ignore[arg-type]
            pass


def test_a_schema_of_somebody_else_is_left_as_it_is(dsn: str, schema: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"CREATE TABLE {schema}.runs (mine text)")
        strange(dsn, schema)
        connection.execute(f"COMMENT ON SCHEMA {schema} IS 'theses'")
        strange(dsn, schema)
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)).fetchall()
    assert found == [("runs",)]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE {}.runs ADD COLUMN more text",
        "DROP TABLE {}.notes",
        "CREATE VIEW {}.theirs AS SELECT 1 AS one",
        "ALTER TABLE {}.cells ALTER COLUMN rate TYPE text",
        "CREATE RULE nothing AS ON INSERT TO {}.tags DO INSTEAD NOTHING",
        "ALTER TABLE {}.tags ADD CHECK (pg_catalog.length(tag) < 1000)",
        "ALTER TABLE {}.tags ALTER COLUMN tag SET DEFAULT pg_catalog.upper('x')",
        "CREATE INDEX theirs ON {}.tags (pg_catalog.upper(tag))",
        "CREATE INDEX theirs ON {}.tags (tag) WHERE pg_catalog.upper(tag) = 'X'",
        "CREATE POLICY theirs ON {}.runs USING (true)",
        "ALTER TABLE {}.runs ENABLE ROW LEVEL SECURITY",
        "CREATE TABLE public.theirs () INHERITS ({}.tags)",
        "CREATE TABLE public.led (run text REFERENCES {}.runs ON DELETE CASCADE)",
    ],
)
def test_tables_that_were_changed_are_left_as_they_are(dsn: str, schema: str, change: str) -> None:
    with postgresql.shared(dsn, schema, access="make"):
        pass
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(change.format(schema))
    strange(dsn, schema)


@pytest.mark.parametrize(("version", "words"), [(99, "a newer orch made it"), (0, "an older orch made it")])
def test_tables_of_another_version_are_refused(dsn: str, schema: str, version: int, words: str) -> None:
    with postgresql.shared(dsn, schema, access="make"):
        pass
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"COMMENT ON SCHEMA {schema} IS 'made by orch: index of runs, version {version}'")
    with pytest.raises(UsageError, match=words), postgresql.shared(dsn, schema, access="read"):
        pass


def test_functions_of_others_are_not_called(dsn: str, schema: str, record: RunRecord) -> None:
    """A `lower` of somebody's own stands first where everybody looks."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION public.lower(text) RETURNS text LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'called'; END $$"
        )
    with postgresql.shared(dsn, schema, access="make") as index:
        index.publish(record)
        assert [run.id for run in index.runs(Filters(experiment="SYNTHETIC"))] == ["one"]


def test_functions_beside_the_tables_are_not_called(dsn: str, schema: str, record: RunRecord) -> None:
    """One that fits the call better than PostgreSQL's own does, and an operator, in the schema itself."""
    with postgresql.shared(dsn, schema, access="make") as index:
        index.publish(record)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            f"CREATE FUNCTION {schema}.called(text, bigint) RETURNS boolean LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'called'; END $$"
        )
        connection.execute(
            f"CREATE OPERATOR {schema}.= (LEFTARG = text, RIGHTARG = bigint, FUNCTION = {schema}.called)"
        )
    for access in ("read", "change"):
        with postgresql.shared(dsn, schema, access=access) as index:  # type: ignore[arg-type]
            found = index._connection.execute("SHOW search_path").fetchone()
            assert found == {"search_path": "pg_catalog"}
            assert [run.id for run in index.runs(Filters(experiment="SYNTHETIC"))] == ["one"]


@pytest.mark.parametrize("access", ["read", "change"])
def test_nobody_changes_the_tables_meanwhile(dsn: str, schema: str, access: str) -> None:
    with postgresql.shared(dsn, schema, access="make"):
        pass
    with (
        postgresql.shared(dsn, schema, access=access) as index,  # type: ignore[arg-type]
        index.writing() if access == "change" else contextlib.nullcontext(),
        psycopg.connect(dsn, autocommit=True) as connection,
    ):
        connection.execute("SET lock_timeout = 100")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            connection.execute(f"ALTER TABLE {schema}.runs ENABLE ROW LEVEL SECURITY")


def test_tables_that_are_changed_before_writing_begins_are_left_as_they_are(
    dsn: str, schema: str, record: RunRecord
) -> None:
    with postgresql.shared(dsn, schema, access="make") as index:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(f"ALTER TABLE {schema}.tags ALTER COLUMN tag SET DEFAULT pg_catalog.upper('x')")
        with pytest.raises(UsageError, match="left as it is"):
            index.publish(record)


def test_reading_makes_nothing_and_writes_nothing(dsn: str, schema: str, record: RunRecord) -> None:
    with pytest.raises(MissingError, match="nothing was published there"):
        ids(dsn, schema)
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone() is None
    with postgresql.shared(dsn, schema, access="make"):
        pass
    with pytest.raises(MissingError, match="read-only"), postgresql.shared(dsn, schema, access="read") as index:
        index.publish(record)


def test_who_has_no_right_is_told_so_without_the_password(dsn: str, schema: str, record: RunRecord) -> None:
    with postgresql.shared(dsn, schema, access="make") as index:
        index.publish(record)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute(f"CREATE ROLE reader LOGIN PASSWORD '{SECRET}'")
    theirs = dsn.replace("user=orch", f"user=reader password={SECRET}")
    with pytest.raises(MissingError, match="no right to do that") as refused:
        ids(theirs, schema)
    assert SECRET not in str(refused.value.lines) + str(refused.value.hint)
    with pytest.raises(MissingError, match="no right"), postgresql.shared(theirs, f"{schema}x", access="make"):
        pass
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader")
    assert ids(theirs, schema) == ["one"]
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP OWNED BY reader")
        connection.execute("DROP ROLE reader")


@pytest.mark.parametrize("name", ["", "pg_orch", "a b", 'a"; DROP SCHEMA x; --', "x" * 64, "ä", "../x"])
def test_a_schema_has_a_plain_name(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be a schema"), postgresql.shared("host=x", name, access="make"):
        pass


@pytest.mark.slow
def test_a_server_that_is_not_there_and_one_that_never_answers_are_said_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        begin = time.monotonic()
        with pytest.raises(MissingError, match=r"the index in x at 127\.0\.0\.1") as refused:
            ids(f"host=127.0.0.1 port={port} dbname=x user=me password={SECRET}", "orch")
        assert time.monotonic() - begin < 60
    assert SECRET not in refused.value.message
    with pytest.raises(MissingError, match=r"the index in x at 127\.0\.0\.1") as refused:
        ids(f"postgresql://me:{SECRET}@127.0.0.1:{port}/x", "orch")
    assert SECRET not in refused.value.message + str(refused.value.hint) + repr(refused.value.__cause__)


@pytest.mark.parametrize(
    "dsn", ["mysql://x", "results/one", "postgresql://me:a@b@host/x", f"postgresql://me:{SECRET}/x@h"]
)
def test_what_is_no_address_is_refused_without_showing_it(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORCH_INDEX", dsn)
    with pytest.raises(UsageError, match="address") as refused:
        runs.command(team=True, limit=3)
    assert SECRET not in refused.value.message + str(refused.value.hint)


def test_a_password_is_taken_from_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORCH_INDEX", raising=False)
    with pytest.raises(UsageError, match="seen by every user") as refused:
        runs.command(index=f"postgresql://me:{SECRET}@127.0.0.1:1/x", limit=3)
    assert SECRET not in refused.value.message + str(refused.value.hint)
    with pytest.raises(UsageError, match="names no index"):
        runs.command(team=True, limit=3)


def test_orch_runs_shows_what_a_team_published(
    dsn: str, record: RunRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "out", io.StringIO())
    monkeypatch.setattr(console, "err", io.StringIO())
    monkeypatch.setenv("ORCH_INDEX", dsn)
    with postgresql.shared(dsn, access="make") as index:
        index.publish(record)
    runs.command(team=True, limit=3)
    assert "one" in console.out.getvalue()
    assert list(tmp_path.iterdir()) == [], "nothing is made here for it"
