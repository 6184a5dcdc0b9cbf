"""The store `postgresql` by asyncpg and its pool: awaited on the server's own event loop, without threads.

The rows are seeded and verified before the responder is ready, as with every driver. The pool belongs to an event loop, and
there is none by then: the first request opens it, which is the requester's check and never a measured one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import asyncpg

from services.python.stores import postgresql as common
from services.python.stores.base import Payment, Runs, Spent, StoreError, declined, now_ns, refuse_unfit
from services.python.stores.seed import Account, Transaction

_SQL = common.statements("$1", "$2", "$3")
_KNOWN = (
    "host port user password dbname sslmode sslcert sslkey sslrootcert sslcrl sslpassword sslnegotiation"
    " ssl_min_protocol_version ssl_max_protocol_version options application_name"
)  # of what libpq knows: what asyncpg knows, too
_FAULTS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)


class AsyncpgStore:
    """As `memory.MemoryStore`, each method awaited."""

    runs: Runs = "loop"
    threads = 0

    def __init__(self, database: common.Database, where: str, size: int) -> None:
        self._dsn = _url(database.reached)
        self._where = where
        self._size = size
        self._opening: asyncio.Task[Any] | None = None
        self._pool: Any = None

    async def account(self, number: int, spent: Spent) -> Account | None:
        async with self._connection(spent) as connection:
            row = await connection.fetchrow(_SQL["account"], number)
        return None if row is None else tuple(row)

    async def pay(self, payer: int, payee: int, amount: int, spent: Spent) -> Payment:
        refuse_unfit(payer, payee, amount)
        async with self._connection(spent) as connection, connection.transaction():
            balances = dict(tuple(row) for row in await connection.fetch(_SQL["balances"], payer, payee))
            if (payment := declined(balances, payer, payee, amount)) is not None:
                return payment
            await connection.execute(_SQL["take"], amount, payer)
            await connection.execute(_SQL["give"], amount, payee)
            entered = await connection.fetchval(_SQL["enter"], payer, payee, amount)
            return Payment(accepted=True, number=entered, balance=balances[payer] - amount)

    async def last(self, payer: int, count: int, spent: Spent) -> list[Transaction]:
        async with self._connection(spent) as connection:
            return [tuple(row) for row in await connection.fetch(_SQL["last"], payer, count)]

    async def page(self, after: int, count: int, spent: Spent) -> list[Account]:
        async with self._connection(spent) as connection:
            return [tuple(row) for row in await connection.fetch(_SQL["page"], after, count)]

    async def after(self, number: int, count: int, spent: Spent) -> list[Transaction]:
        async with self._connection(spent) as connection:
            spent.queries += 1
            return [tuple(row) for row in await connection.fetch(_SQL["after"], number, count)]

    @asynccontextmanager
    async def _connection(self, spent: Spent) -> AsyncIterator[Any]:
        """One of the pool, and back; what waiting for it and working with it took is added to `spent`. StoreError."""
        asked_ns = now_ns()
        try:
            pool = self._pool or await self._opened()
            connection = await pool.acquire(timeout=common.PATIENCE_S)
        except TimeoutError:
            raise StoreError(f"no connection to the database was free for {common.PATIENCE_S:g} s") from None
        except _FAULTS as error:
            raise self._fault(error) from error
        had_ns = now_ns()
        try:
            yield connection
        except _FAULTS as error:
            raise self._fault(error) from error
        finally:
            await pool.release(connection)
            done_ns = now_ns()
            spent.pool_ns += had_ns - asked_ns
            spent.database_ns += done_ns - had_ns
            spent.store_ns += now_ns() - asked_ns

    async def _opened(self) -> Any:
        """The pool, opened once by whoever comes first; after a failure the next one tries again."""
        if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
            self._opening = asyncio.get_running_loop().create_task(
                asyncio.wait_for(self._open(), common.OPEN_S), name="opening the pool"
            )
        self._pool = await asyncio.shield(self._opening)
        return self._pool

    async def _open(self) -> Any:
        return await asyncpg.create_pool(
            self._dsn,
            min_size=self._size,
            max_size=self._size,
            timeout=common.CONNECT_S,
            command_timeout=common.PATIENCE_S,
            server_settings={"search_path": "pg_catalog"},
        )

    def _fault(self, error: BaseException) -> StoreError:
        return StoreError(f"{self._where}: {type(error).__name__}: {common.first_line(error)}")


@contextmanager
def opened(dsn: str, size: int) -> Iterator[tuple[AsyncpgStore, dict[str, str]]]:
    """The store in a database as seeded, made where it is not there, and its settings for the record; StoreError.

    Its connections end with the process: an event loop that is not running closes nothing.
    """
    with common.held(dsn) as held:
        settings = {"store": f"PostgreSQL {held.server}", "driver": f"asyncpg {asyncpg.__version__}"}
        yield AsyncpgStore(held, common.named(dsn), size), settings


def _url(reached: Mapping[str, str]) -> str:
    """Where libpq came to, as asyncpg reads it: its own reading of a DSN and of the environment is another one."""
    from urllib.parse import urlencode

    return f"postgresql://?{urlencode({name: value for name, value in reached.items() if name in _KNOWN.split() and value})}"
