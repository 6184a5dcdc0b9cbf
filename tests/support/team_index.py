"""A PostgreSQL for tests of a team's index, in which each test has a schema of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.errors import MissingError
from orchestrator.history import noted, postgresql, read
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


def push(dsn: str, schema: str, results: Path) -> None:
    """Have the index hold what the index of this folder of runs would: as records, with what was noted of them."""
    with postgresql.shared(dsn, schema, access="make") as index:
        for path in sorted(results.iterdir()):
            of = noted.read(results.parent / ".orch" / "notes", path.name)
            record = read.read_run(RunFolder(path))
            index.publish(record, tags=of.tags, notes=of.notes, replace=True)
