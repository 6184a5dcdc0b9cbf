"""What every store does alike, whatever keeps its rows."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from services.python.stores import seed, sqlite
from services.python.stores.base import Spent, StoreError, opened
from tests.support.postgresql import settings as in_postgresql

DATABASES = [
    pytest.param("sqlite", marks=pytest.mark.slow),  # test_sqlite.py has what is light of it
    *(pytest.param(driver, marks=[pytest.mark.slow, pytest.mark.busy]) for driver in ("psycopg", "asyncpg")),
]


class FromThreads:
    """An awaitable store as a blocking one: its loop is in a thread of its own, and any thread may ask."""

    def __init__(self, store: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._store, self._loop = store, loop

    def __getattr__(self, name: str) -> Any:
        return lambda *given: asyncio.run_coroutine_threadsafe(getattr(self._store, name)(*given), self._loop).result()


@contextmanager
def opened_for_threads(settings: dict[str, str]) -> Iterator[Any]:
    with opened(settings) as held:
        if held.runs != "loop":
            yield held.store
            return
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            yield FromThreads(held.store, loop)
        finally:
            store: Any = held.store
            loop.call_soon_threadsafe(store._pool.terminate)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


@pytest.fixture(params=["none", *DATABASES])
def store(request: pytest.FixtureRequest, settings_of: Callable[[str], dict[str, str]]) -> Iterator[Any]:
    with opened_for_threads(settings_of(request.param)) as store:
        yield store


@pytest.fixture(scope="session")
def seeded_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "seeded.sqlite3"
    sqlite.seeded(path)
    return path


@pytest.fixture
def settings_of(tmp_path: Path, seeded_file: Path, request: pytest.FixtureRequest) -> Callable[[str], dict[str, str]]:
    def settings(kind: str) -> dict[str, str]:
        if kind == "none":
            return {"store": kind}
        if kind != "sqlite":
            return {**in_postgresql(request.getfixturevalue("database")), "driver": kind}
        path = tmp_path / "store.sqlite3"
        if not path.exists():
            shutil.copy(seeded_file, path)
        return {"store": kind, "database": str(path), "pool": "4"}

    return settings


def test_an_account_is_the_seeded_one(store: Any) -> None:
    assert store.account(4711, Spent()) == seed.accounts()[4710]
    for number in (0, -1, 10_001, 2**31 - 1):
        assert store.account(number, Spent()) is None


def test_a_payment_moves_an_amount_and_is_the_newest_transaction(store: Any) -> None:
    payer, payee = store.account(1, Spent()), store.account(2, Spent())
    made = store.pay(1, 2, 30, Spent())
    assert (made.accepted, made.balance) == (True, payer[2] - 30)
    assert made.number > seed.TRANSACTIONS
    assert store.account(1, Spent()) == (1, payer[1], payer[2] - 30)
    assert store.account(2, Spent()) == (2, payee[1], payee[2] + 30)
    [newest, *older] = store.last(1, 5, Spent())
    assert newest == (made.number, 1, 2, 30)
    assert older == list(seed.by_payer()[1][:4])
    assert store.last(2, 1, Spent()) == list(seed.by_payer()[2][:1])


def test_what_the_payer_does_not_have_is_declined_and_nothing_changes(store: Any) -> None:
    before = [store.account(1, Spent()), store.account(2, Spent()), store.last(1, 3, Spent())]
    balance = seed.accounts()[0][2]
    declined = store.pay(1, 2, balance + 1, Spent())
    assert (declined.accepted, declined.number, declined.balance) == (False, 0, balance)
    assert [store.account(1, Spent()), store.account(2, Spent()), store.last(1, 3, Spent())] == before
    everything = store.pay(1, 2, balance, Spent())
    assert (everything.accepted, everything.balance) == (True, 0)


def test_a_payment_that_cannot_be_is_refused_and_nothing_changes(store: Any) -> None:
    before = store.account(3, Spent()), store.account(4, Spent())
    for payer, payee, amount, why in (
        (3, 3, 1, "cannot pay itself"),
        (3, 4, 0, "above 0 cents"),
        (3, 4, -5, "above 0 cents"),
        (3, 10_001, 1, "no account 10001"),
        (10_001, 3, 1, "no account 10001"),
    ):
        with pytest.raises(StoreError, match=why):
            store.pay(payer, payee, amount, Spent())
        assert (store.account(3, Spent()), store.account(4, Spent())) == before


def test_a_balance_beyond_32_bits_is_refused(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rich = store.account(6, Spent())
    monkeypatch.setattr("services.python.stores.base.MOST_BALANCE", rich[2] + 4)
    assert store.pay(5, 6, 4, Spent()).accepted
    with pytest.raises(StoreError, match="account 6 would exceed"):
        store.pay(5, 6, 1, Spent())
    assert store.account(6, Spent()) == (6, rich[1], rich[2] + 4)


def test_transactions_follow_a_number_and_payments_follow_them(store: Any) -> None:
    assert store.after(0, 3, Spent()) == list(seed.transactions()[:3])
    assert store.after(-7, 2, Spent()) == list(seed.transactions()[:2])
    assert store.after(4_711, 100, Spent()) == list(seed.transactions()[4_711:4_811])
    assert store.after(seed.TRANSACTIONS - 2, 50, Spent()) == list(seed.transactions()[-2:])
    assert store.after(seed.TRANSACTIONS, 50, Spent()) == []
    made = [store.pay(payer, 2, 30, Spent()).number for payer in (1, 3)]
    assert store.after(seed.TRANSACTIONS - 1, 2, Spent()) == [seed.transactions()[-1], (made[0], 1, 2, 30)]
    assert store.after(made[0], 50, Spent()) == [(made[1], 3, 2, 30)]
    assert store.after(made[1], 50, Spent()) == []


def test_payments_at_once_lose_and_make_no_cent(store: Any) -> None:
    """Both ways between the same two accounts: who takes them in the order of the request waits for the other for ever."""
    before = [store.account(number, Spent()) for number in (8, 9)]

    def pay(turn: int) -> int:
        return store.pay(*((8, 9) if turn % 2 else (9, 8)), 1 + turn % 3, Spent()).number

    with ThreadPoolExecutor(8) as threads:
        numbers = list(threads.map(pay, range(200)))
    assert len(set(numbers)) == 200
    after = [store.account(number, Spent()) for number in (8, 9)]
    assert sum(row[2] for row in after if row) == sum(row[2] for row in before if row)
    moved = sum((1 + turn % 3) * (-1 if turn % 2 else 1) for turn in range(200))
    assert after[0] is not None
    assert before[0] is not None
    assert after[0][2] - before[0][2] == moved


@pytest.mark.parametrize("kind", DATABASES)
def test_what_a_database_took_is_told_and_payments_are_undone_when_it_is_opened_again(
    kind: str, settings_of: Callable[[str], dict[str, str]]
) -> None:
    spent = Spent()
    with opened_for_threads(settings_of(kind)) as store:
        assert store.page(9_998, 50, spent) == list(seed.accounts()[9_998:])
        assert store.after(50, 100, spent) == list(seed.transactions()[50:150])
        assert store.pay(1, 2, 30, spent).number == seed.TRANSACTIONS + 1
    assert spent.queries == 1
    assert 0 < spent.database_ns < spent.store_ns
    assert spent.pool_ns + spent.database_ns <= spent.store_ns
    with opened_for_threads(settings_of(kind)) as again:
        assert again.account(1, Spent()) == seed.accounts()[0]
        assert again.pay(5, 6, 1, Spent()).number == seed.TRANSACTIONS + 1


def test_a_store_that_there_is_not_is_refused() -> None:
    with pytest.raises(StoreError, match="unknown store 'oracle'"), opened({"store": "oracle"}):
        pass
    with pytest.raises(StoreError, match="takes no pool"), opened({"pool": "4"}):
        pass
