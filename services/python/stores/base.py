"""What a store is asked, whatever keeps its rows, and where the time of a request goes."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Final, Literal

from services.python.contract.knobs import DRIVERS, PSYCOPG
from services.python.contract.strict import Part, part
from services.python.stores.seed import MOST_BALANCE, Account, Transaction

NONE: Final = "none"
SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"
STORES: Final = (NONE, SQLITE, POSTGRESQL)

POOL_SIZE: Final = 10  # connections, unless a serve line says otherwise

_MOST_CONNECTIONS = 1_000

STORE: Final = "store"
DATABASE: Final = "database"
POOL: Final = "pool"
DRIVER: Final = "driver"
RESOURCES: Final = (STORE, DATABASE, POOL, DRIVER)
"""The settings of a serve line that name a store: which one, where it is, how many connections it keeps, and by which
library PostgreSQL is asked."""

Runs = Literal["inline", "pool", "loop"]


@part
class Payment(Part):
    """What came of a payment: its number (0: declined, the payer has too little), and the payer's balance after it."""

    accepted: bool
    number: int
    balance: int


class StoreError(ValueError):
    """A store cannot be had, or cannot do what it was asked; the message says why."""


@dataclass(slots=True)
class Spent:
    """Nanoseconds that one request has spent in the store so far, and the queries that it has made there."""

    pool_ns: int = 0  # waiting for a connection
    database_ns: int = 0  # with it, until it is given back
    store_ns: int = 0  # both, and what is around them
    queries: int = 0
    events: int = 0  # of a stream, whose rows these are: each of them counts as a request


@dataclass(kw_only=True)
class Times:
    """Where the handling time of all requests went, in nanoseconds: sums since the responder began.

    `handling_ns` is taken by the dispatcher, from the decoded request to the reply in plain values. The parts are taken
    where they pass: `queue_ns` waiting for a thread and, back on an event loop, for the loop; `pool_ns` waiting for a
    connection; `database_ns` with it; `service_ns` in the operation's own code. `queries`: how many the store was
    asked, where it counts them. `storeless`: requests that had no connection to a database, as of rows in memory.
    """

    requests: int = 0
    handling_ns: int = 0
    queue_ns: int = 0
    pool_ns: int = 0
    database_ns: int = 0
    service_ns: int = 0
    queries: int = 0
    storeless: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def add(self, handling_ns: int, queue_ns: int, service_ns: int, spent: Spent, requests: int = 1) -> None:
        """Count one request and the events that were read; or the latter alone, and for a further step of a request none."""
        with self._lock:
            self.requests += requests + spent.events
            self.handling_ns += handling_ns
            self.queue_ns += queue_ns
            self.service_ns += service_ns
            self.pool_ns += spent.pool_ns
            self.database_ns += spent.database_ns
            self.queries += spent.queries
            if not spent.database_ns:
                self.storeless += requests

    def copy(self) -> Times:
        """All sums as they are together at one moment."""
        with self._lock:
            return replace(self)


def statements(schema: str, *places: str) -> dict[str, str]:
    """The statements of a request, by name, with the places that a driver writes for three values."""
    accounts, transactions = f"{schema}accounts", f"{schema}transactions"
    texts = {
        "account": f"SELECT account, owner, balance FROM {accounts} WHERE account = {{0}}",  # noqa: S608 - names of ours
        "page": f"SELECT account, owner, balance FROM {accounts} WHERE account > {{0}} ORDER BY account LIMIT {{1}}",  # noqa: S608
        "last": f"SELECT number, payer, payee, amount FROM {transactions} WHERE payer = {{0}}"  # noqa: S608
        " ORDER BY number DESC LIMIT {1}",
        "after": f"SELECT number, payer, payee, amount FROM {transactions} WHERE number > {{0}}"  # noqa: S608
        " ORDER BY number LIMIT {1}",
        "balances": f"SELECT account, balance FROM {accounts} WHERE account IN ({{0}}, {{1}}) ORDER BY account",  # noqa: S608
        "take": f"UPDATE {accounts} SET balance = balance - {{0}} WHERE account = {{1}}",  # noqa: S608
        "give": f"UPDATE {accounts} SET balance = balance + {{0}} WHERE account = {{1}}",  # noqa: S608
        "enter": f"INSERT INTO {transactions} (payer, payee, amount) VALUES ({{0}}, {{1}}, {{2}})",  # noqa: S608
    }
    return {name: text.format(*places) for name, text in texts.items()}


class AskedInThreads:
    """What a store of a database does that is asked in threads, by a connection that executes statements."""

    runs: Runs = "pool"
    _account: Any
    _page: Any
    _last: Any
    _after: Any

    def __init__(self, size: int) -> None:
        self.threads = size

    def _connection(self, spent: Spent) -> AbstractContextManager[Any]:
        """One of the pool, and back; what waiting for it and working with it took is added to `spent`. StoreError."""
        raise NotImplementedError

    def account(self, number: int, spent: Spent) -> Account | None:
        with self._connection(spent) as connection:
            row: Account | None = connection.execute(self._account, (number,)).fetchone()
        return row

    def last(self, payer: int, count: int, spent: Spent) -> list[Transaction]:
        with self._connection(spent) as connection:
            rows: list[Transaction] = connection.execute(self._last, (payer, count)).fetchall()
        return rows

    def page(self, after: int, count: int, spent: Spent) -> list[Account]:
        with self._connection(spent) as connection:
            rows: list[Account] = connection.execute(self._page, (after, count)).fetchall()
        return rows

    def after(self, number: int, count: int, spent: Spent) -> list[Transaction]:
        with self._connection(spent) as connection:
            spent.queries += 1
            rows: list[Transaction] = connection.execute(self._after, (number, count)).fetchall()
        return rows


@dataclass(frozen=True, kw_only=True)
class Held:
    """What an operation holds: a store (`memory`, `posts`), times of who asks it, what the ready line tells."""

    store: Any
    times: Times = field(default_factory=Times)
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> Runs:
        runs: Runs = self.store.runs
        return runs

    @property
    def threads(self) -> int:
        return int(self.store.threads)


now_ns = perf_counter_ns  # the clock of all times here


def refuse_other_rows(where: str, digest: str, wanted: str) -> None:
    """StoreError unless a database has all of the seed and nothing else, by their digests."""
    if digest != wanted:
        raise StoreError(
            f"{where} has other rows than the seed (digest {digest[:12]}, not {wanted[:12]}). It is left as it is"
        )


def refuse_unfit(payer: int, payee: int, amount: int) -> None:
    """StoreError for a payment that no store makes."""
    if payer == payee:
        raise StoreError(f"account {payer} cannot pay itself")
    if amount < 1:
        raise StoreError(f"an amount is above 0 cents, not {amount}")


def declined(balances: Mapping[int, int], payer: int, payee: int, amount: int) -> Payment | None:
    """The payment that the payer's balance is too small for; None for one to make, StoreError for one that cannot be."""
    for number in (payer, payee):
        if number not in balances:
            raise missing(number)
    if balances[payer] < amount:
        return Payment(accepted=False, number=0, balance=balances[payer])
    if balances[payee] + amount > MOST_BALANCE:
        raise StoreError(f"the balance of account {payee} would exceed what 32 bits hold")
    return None


def pool_size(settings: Mapping[str, str]) -> int:
    """How many connections are kept; StoreError for a number that no pool has."""
    text = settings.get(POOL, str(POOL_SIZE))
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= _MOST_CONNECTIONS):
        raise StoreError(f"{POOL}: a pool has 1 to {_MOST_CONNECTIONS:,} connections, not {text:.40}")
    return int(text)


def missing(number: int) -> StoreError:
    """What is said of an account that there is not."""
    return StoreError(f"there is no account {number}")


@contextmanager
def opened(settings: Mapping[str, str]) -> Iterator[Held]:
    """The store of these settings as seeded, `none` unless they name one. StoreError where it cannot be had."""
    kind = settings.get(STORE, NONE)
    if kind == NONE:
        if strange := sorted(settings.keys() - {STORE}):
            raise StoreError(f"{STORE}: {NONE} is in memory, and takes no {', '.join(strange)}")
        yield Held(store=_module("memory").MemoryStore())
    elif kind == SQLITE:
        if DRIVER in settings:
            raise StoreError(f"{STORE}: {SQLITE} is asked by Python's own library, and takes no {DRIVER}")
        with _module("sqlite").opened(Path(database(settings)), pool_size(settings)) as (store, described):
            yield Held(store=store, settings=described)
    elif kind == POSTGRESQL:
        driver = settings.get(DRIVER, PSYCOPG)
        if driver not in DRIVERS:
            raise StoreError(f"unknown driver {driver!r}; there are {', '.join(DRIVERS)}")
        with _module(f"{driver}_store").opened(database(settings), pool_size(settings)) as (awaited_store, described):
            yield Held(store=awaited_store, settings=described)
    else:
        raise StoreError(f"unknown store {kind!r}; there are {', '.join(STORES)}")


def _module(name: str) -> Any:
    return importlib.import_module(f"services.python.stores.{name}")


def database(settings: Mapping[str, str]) -> str:
    """Where it is; StoreError where nobody says so."""
    if not settings.get(DATABASE):
        raise StoreError(f"{STORE}: {settings[STORE]} needs a {DATABASE}, and none is named")
    return settings[DATABASE]
