"""A server of PostgreSQL for the tests of a module, and a database for each of them."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from orchestrator.errors import MissingError
from orchestrator.hosts.local import postgresql as server
from services.python.stores import postgresql


@pytest.fixture(scope="session")
def installed() -> None:
    """The programs of PostgreSQL."""
    try:
        server.find()
    except MissingError as error:
        pytest.skip(error.message)


@pytest.fixture(scope="module")
def dsn(installed: None) -> Iterator[str]:
    with server.running(40) as (dsn, version):
        assert int(version.split(".")[0]) >= 16
        assert postgresql.seeded(dsn)[0]
        yield dsn


@pytest.fixture
def database(dsn: str) -> Iterator[str]:
    """A database of the test's own, a copy of the seeded one."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE mine TEMPLATE postgres")
    yield dsn.replace("dbname=postgres", "dbname=mine")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP DATABASE mine WITH (FORCE)")
