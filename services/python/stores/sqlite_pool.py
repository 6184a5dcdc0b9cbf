"""Connections to a file of SQLite that requests share: each has one for as long as it works with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue

from services.python.stores.base import Spent, StoreError, now_ns

PATIENCE_S = 30.0


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
