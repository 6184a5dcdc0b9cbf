"""A PostgreSQL for tests of a team's index, in which each test has a schema of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL

from orchestrator.errors import MissingError
from orchestrator.history import run_record, shared
from orchestrator.hosts.local import postgresql as server
from orchestrator.results.folder import RunFolder


@contextmanager
def a_server() -> Iterator[str]:
    """The DSN of a server of our own; the test is skipped where its programs are not here."""
    try:
        server.find()
    except MissingError as error:
        pytest.skip(error.message)
    with server.running(20) as (dsn, _):
        yield dsn


def empty(dsn: str, schema: str) -> URL:
    """The URL of an empty index there: a schema of its own."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE'.encode())
        connection.execute(f'CREATE SCHEMA "{schema}"'.encode())
    return url_of(dsn, schema)


def url_of(dsn: str, schema: str, **others: str) -> URL:
    """A DSN of libpq as a URL, whose tables are in that schema."""
    parts = {**conninfo_to_dict(dsn), **others}
    query = {name: str(parts[name]) for name in ("host", "port") if parts.get(name)}
    return URL.create(
        "postgresql+psycopg",
        username=str(parts["user"]),
        password=others.get("password"),
        database=str(parts.get("dbname") or parts["user"]),
        query={**query, "options": f"-csearch_path={schema}"},
    )


def push(url: URL, results: Path) -> None:
    """Have the index hold what the index of this folder of runs would: as records."""
    with shared.shared(url, makes=True) as index:
        for path in sorted(results.iterdir()):
            record = run_record.read_run(RunFolder(path))
            shared.publish(index, record)
