"""A file of SQLite in the workspace of a run: made whole or not at all, and connections to it that requests share."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from services.python.stores.base import Spent, StoreError, now_ns

PATIENCE_S = 30.0
_IN_THIS_THREAD_TOO = False  # connections wander between threads, one at a time


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """StoreError in place of what SQLite raises."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"the database {path}: it cannot be used: {error}") from error


@contextmanager
def made(path: Path, tables: str, indexes: str) -> Iterator[sqlite3.Connection]:
    """A connection to fill the tables of a new file with, in one transaction; StoreError where it cannot be made.

    Until it is whole nobody reads it, and what a power cut leaves is made again.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".partial", dir=path.parent)
        os.close(descriptor)
        partial = Path(name)
        try:
            with explained(path), closing(sqlite3.connect(partial, isolation_level=None)) as connection:
                connection.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {tables}")
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")
                connection.executescript(f"{indexes}; ANALYZE;")
            partial.rename(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"the database {path} cannot be made: {error.strerror or error}") from error


def connected(path: Path) -> sqlite3.Connection:
    """A connection to a file that is there: what was removed meanwhile is an error, and not made anew."""
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=PATIENCE_S,
        isolation_level=None,
        check_same_thread=_IN_THIS_THREAD_TOO,
    )


def require_wal(path: Path, connection: sqlite3.Connection) -> None:
    """Put the file into WAL mode; StoreError where its file system has none."""
    mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        raise StoreError(f"the database {path} cannot be in WAL mode on this file system; it is in mode {mode}")


@contextmanager
def pooled(
    path: Path, size: int, connect: Callable[[Path], sqlite3.Connection]
) -> Iterator[SimpleQueue[sqlite3.Connection]]:
    """So many connections to the file, closed at the end; StoreError."""
    connections: SimpleQueue[sqlite3.Connection] = SimpleQueue()
    every = []
    try:
        with explained(path):
            for _ in range(size):
                every.append(connect(path))
                connections.put(every[-1])
        yield connections
    finally:
        for connection in every:
            with suppress(sqlite3.Error):
                connection.close()


@contextmanager
def lent(connections: SimpleQueue[sqlite3.Connection], spent: Spent) -> Iterator[sqlite3.Connection]:
    """One of the pool, and back; what waiting for it and working with it took is added to `spent`. StoreError."""
    asked_ns = now_ns()
    try:
        connection = connections.get(timeout=PATIENCE_S)
    except Empty:
        raise StoreError(f"no connection to the database was free for {PATIENCE_S:g} s") from None
    had_ns = now_ns()
    try:
        yield connection
    except sqlite3.Error as error:
        raise StoreError(f"the database: {type(error).__name__}: {error}") from error
    finally:
        connections.put(connection)
        done_ns = now_ns()
        spent.pool_ns += had_ns - asked_ns
        spent.database_ns += done_ns - had_ns
        spent.store_ns += now_ns() - asked_ns
