"""The store `postgresql` by psycopg 3 and its pool of connections; requests wait for one in turn, in threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import psycopg_pool

from services.python.stores import postgresql as common
from services.python.stores.base import AskedInThreads, Payment, Spent, StoreError, declined, now_ns, refuse_unfit

_SQL = {name: text.encode() for name, text in common.statements("%s", "%s", "%s").items()}


class PsycopgStore(AskedInThreads):
    """See `memory.MemoryStore`."""

    _account, _page, _last, _after = (_SQL[name] for name in ("account", "page", "last", "after"))

    def __init__(self, pool: psycopg_pool.ConnectionPool[psycopg.Connection[Any]], size: int) -> None:
        super().__init__(size)
        self._pool = pool

    def pay(self, payer: int, payee: int, amount: int, spent: Spent) -> Payment:
        refuse_unfit(payer, payee, amount)
        with self._connection(spent) as connection, connection.transaction():
            balances = dict(connection.execute(_SQL["balances"], (payer, payee)).fetchall())
            if (payment := declined(balances, payer, payee, amount)) is not None:
                return payment
            connection.execute(_SQL["take"], (amount, payer))
            connection.execute(_SQL["give"], (amount, payee))
            entered = connection.execute(_SQL["enter"], (payer, payee, amount)).fetchone()
            assert entered is not None  # noqa: S101 - RETURNING gives a row
            return Payment(accepted=True, number=entered[0], balance=balances[payer] - amount)

    @contextmanager
    def _connection(self, spent: Spent) -> Iterator[psycopg.Connection[Any]]:
        """One of the pool, and back; what waiting for it and working with it took is added to `spent`. StoreError."""
        asked_ns = now_ns()
        try:
            connection = self._pool.getconn()
        except (psycopg_pool.PoolTimeout, psycopg_pool.PoolClosed) as error:
            raise StoreError(f"no connection to the database: {error}") from None
        had_ns = now_ns()
        try:
            yield connection
        except psycopg.Error as error:
            raise StoreError(f"the database: {type(error).__name__}: {common.first_line(error)}") from error
        finally:
            self._pool.putconn(connection)
            done_ns = now_ns()
            spent.pool_ns += had_ns - asked_ns
            spent.database_ns += done_ns - had_ns
            spent.store_ns += now_ns() - asked_ns


@contextmanager
def opened(dsn: str, size: int) -> Iterator[tuple[PsycopgStore, dict[str, str]]]:
    """The store in a database as seeded, made where it is not there, and its settings for the record; StoreError."""
    with common.held(dsn) as held:
        pool: psycopg_pool.ConnectionPool[psycopg.Connection[Any]] = psycopg_pool.ConnectionPool(
            dsn,
            min_size=size,
            max_size=size,
            kwargs={"autocommit": True, "connect_timeout": common.CONNECT_S},
            timeout=common.PATIENCE_S,
            configure=_configure,
            open=False,
        )
        try:
            _open(pool, dsn, size)
            driver = f"psycopg {psycopg.__version__} ({psycopg.pq.__impl__})"
            yield PsycopgStore(pool, size), {"store": f"PostgreSQL {held.server}", "driver": driver}
        finally:
            pool.close()


def _configure(connection: psycopg.Connection[Any]) -> None:
    connection.execute(common.OWN_NAMES)


def _open(pool: psycopg_pool.ConnectionPool[psycopg.Connection[Any]], dsn: str, size: int) -> None:
    try:
        pool.open(wait=True, timeout=common.OPEN_S)
    except psycopg_pool.PoolTimeout:
        raise StoreError(f"{common.named(dsn)} gave fewer than {size} connections within {common.OPEN_S:g} s") from None
