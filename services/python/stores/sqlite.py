"""The store `sqlite`: a file of its own in WAL mode, and a pool of connections to it.

SQLite has one writer at a time; payments of this process take turns by a lock, as SQLite's own waiting is a sleep of up to
100 ms between tries. Waiting for that is the database's time.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue

from services.python.stores import base, seed
from services.python.stores.sqlite_file import connected, explained, lent, made, pooled, require_wal

_TABLES = """
CREATE TABLE accounts (
    account INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    balance INTEGER NOT NULL CHECK (balance >= 0),
    seeded INTEGER NOT NULL
);
CREATE TABLE transactions (
    number INTEGER PRIMARY KEY,
    payer INTEGER NOT NULL REFERENCES accounts,
    payee INTEGER NOT NULL REFERENCES accounts CHECK (payee <> payer),
    amount INTEGER NOT NULL CHECK (amount > 0)
);
"""
_INDEX = "CREATE INDEX transactions_of_payer ON transactions (payer, number)"
_AS_SEEDED = f"""
BEGIN IMMEDIATE;
DELETE FROM transactions WHERE number > {seed.TRANSACTIONS};
UPDATE accounts SET balance = seeded WHERE balance <> seeded;
COMMIT;
"""  # noqa: S608 - a constant of ours
_ALL = (
    "SELECT account, owner, balance FROM accounts ORDER BY account",
    "SELECT number, payer, payee, amount FROM transactions ORDER BY number",
)
_SQL = base.statements("", "?", "?", "?")


class SqliteStore(base.AskedInThreads):
    """See `memory.MemoryStore`."""

    _account, _page, _last, _after = (_SQL[name] for name in ("account", "page", "last", "after"))

    def __init__(self, connections: SimpleQueue[sqlite3.Connection], size: int) -> None:
        super().__init__(size)
        self._connections = connections
        self._writing = threading.Lock()

    def _connection(self, spent: base.Spent) -> AbstractContextManager[sqlite3.Connection]:
        return lent(self._connections, spent)

    def pay(self, payer: int, payee: int, amount: int, spent: base.Spent) -> base.Payment:
        base.refuse_unfit(payer, payee, amount)
        with lent(self._connections, spent) as connection, self._writing:
            connection.execute("BEGIN IMMEDIATE")
            try:
                made = _pay(connection, payer, payee, amount)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
        return made


def _pay(connection: sqlite3.Connection, payer: int, payee: int, amount: int) -> base.Payment:
    balances = dict(connection.execute(_SQL["balances"], (payer, payee)).fetchall())
    if (payment := base.declined(balances, payer, payee, amount)) is not None:
        return payment
    connection.execute(_SQL["take"], (amount, payer))
    connection.execute(_SQL["give"], (amount, payee))
    entered = connection.execute(_SQL["enter"], (payer, payee, amount)).lastrowid
    assert entered is not None  # noqa: S101 - an insert has one
    return base.Payment(accepted=True, number=entered, balance=balances[payer] - amount)


@contextmanager
def opened(path: Path, size: int) -> Iterator[tuple[SqliteStore, dict[str, str]]]:
    """The store in a file as seeded, made where there is none, and its settings for the record; StoreError."""
    seeded(path)
    with pooled(path, size, _connected) as connections:
        yield SqliteStore(connections, size), {"store": f"SQLite {sqlite3.sqlite_version}, WAL, synchronous=NORMAL"}


def seeded(path: Path) -> bool:
    """Have the file hold exactly the seeded rows; whether it was made for that. StoreError, and nothing is changed."""
    is_new = not path.exists()
    if is_new:
        _make(path)
    with explained(path), closing(_connected(path)) as connection:
        require_wal(path, connection)
        connection.executescript(_AS_SEEDED)
        rows = (seed.lines(connection.execute(query)) for query in _ALL)
        base.refuse_other_rows(f"the database {path}", seed.digest(*rows), seed.DIGEST)
    return is_new


def _make(path: Path) -> None:
    with made(path, _TABLES, _INDEX) as connection:
        accounts = ((*row, row[2]) for row in seed.accounts())
        connection.executemany("INSERT INTO accounts VALUES (?, ?, ?, ?)", accounts)
        connection.executemany("INSERT INTO transactions VALUES (?, ?, ?, ?)", seed.transactions())


def _connected(path: Path) -> sqlite3.Connection:
    connection = connected(path)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection
