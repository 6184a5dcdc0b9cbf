"""A team's index in PostgreSQL: publishing, several at once, other databases, rights, and servers that do not answer."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import URL, make_url

from orchestrator.cli.console import console
from orchestrator.cli.runs import listing
from orchestrator.errors import MissingError, OrchError, UsageError
from orchestrator.history import run_record, shared
from orchestrator.history.record import Filters, RunRecord
from orchestrator.results.folder import RunFolder
from tests.support.past import a_past_run, with_samples
from tests.support.printed import printed
from tests.support.team_index import a_server, empty, url_of

SECRET = "hunter2-is-long"


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with a_server() as address:
        yield address


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    root = tmp_path_factory.mktemp("one")
    return run_record.read_run(RunFolder(a_past_run(root / "results" / "one")))


@pytest.fixture
def schema(request: pytest.FixtureRequest) -> str:
    return f"t{hashlib.sha256(request.node.name.encode()).hexdigest()[:20]}"


@pytest.fixture
def url(dsn: str, schema: str) -> URL:
    return empty(dsn, schema)


def ids(url: URL) -> list[str]:
    with shared.shared(url) as index:
        return [run.id for run in index.runs(Filters())]


def test_what_is_published_again_is_replaced_and_what_is_withdrawn_is_gone(url: URL, record: RunRecord) -> None:
    with shared.shared(url, makes=True) as index:
        for name in (record.name, "other"):
            shared.publish(index, replace(record, name=name))
            assert [run.name for run in index.runs(Filters())] == [name]
        assert shared.withdraw(index, "one")
        assert not shared.withdraw(index, "one")
        assert index.runs(Filters()) == []
        assert index.cells() == []


def test_people_who_publish_at_once_lose_nothing(url: URL, record: RunRecord) -> None:
    with shared.shared(url, makes=True):
        pass
    begin, errors = threading.Barrier(6), []

    def publish_own(number: int) -> None:
        begin.wait()
        try:
            with shared.shared(url, makes=True) as index:
                shared.publish(index, replace(record, id=f"own-{number}"))
        except OrchError as error:
            errors.append(error.message)

    threads = [threading.Thread(target=publish_own, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(ids(url)) == [f"own-{number}" for number in range(6)]


def test_a_database_with_other_tables_is_left_as_it_is(url: URL, dsn: str, schema: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {schema}.runs (mine text)".encode())
        for makes in (True, False):
            with pytest.raises(UsageError), shared.shared(url, makes=makes):
                pass
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)).fetchall()
    assert tables == [("runs",)]


def test_a_user_without_rights_gets_an_error_without_the_password(
    url: URL, dsn: str, schema: str, record: RunRecord
) -> None:
    with shared.shared(url, makes=True) as index:
        shared.publish(index, record)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE reader LOGIN PASSWORD '{SECRET}'")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader".encode())
        theirs = url_of(dsn, schema, user="reader", password=SECRET)
        with pytest.raises(MissingError) as refused:
            ids(theirs)
        assert SECRET not in str(refused.value.lines) + str(refused.value.hint)
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader".encode())
        assert ids(theirs) == ["one"]
        with pytest.raises(MissingError), shared.shared(theirs) as index:
            shared.publish(index, replace(record, id="two"))
        connection.execute("DROP OWNED BY reader")
        connection.execute("DROP ROLE reader")


@pytest.mark.parametrize(
    "address", ["results/one", "nothing://x", "mysql+nothing://x", f"postgresql://me:{SECRET}:1:2"]
)
def test_what_is_no_address_is_refused_without_showing_the_password(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORCH_INDEX", address)
    with pytest.raises(UsageError) as refused:
        listing.list_runs(team=True, limit=3)
    assert SECRET not in refused.value.message + str(refused.value.hint)


def test_without_an_address_the_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORCH_INDEX", raising=False)
    with pytest.raises(UsageError, match="ORCH_INDEX"):
        listing.list_runs(team=True, limit=3)


@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
def test_a_run_is_published_listed_and_unpublished_by_verbs(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = request.getfixturevalue("url") if kind == "postgresql" else make_url(f"sqlite:///{tmp_path}/team.sqlite3")
    monkeypatch.setenv("ORCH_INDEX", url.render_as_string(hide_password=False))
    with_samples(Path("results/one"))
    listing.publish(["one"])
    assert ids(url) == ["one"]
    listing.list_runs(team=True, limit=3)
    assert "one" in printed(console.out)
    listing.unpublish(["one"], yes=True)
    assert ids(url) == []
