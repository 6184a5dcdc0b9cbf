"""What is particular to SQLite: how its file is made, and which rows are refused and left as they are."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from services.python.stores import seed, sqlite, sqlite_file
from services.python.stores.base import Spent, StoreError, opened


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "store.sqlite3"
    assert sqlite.seeded(path)
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "store.sqlite3"))


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_what_is_seeded_stays_and_nothing_else_lies_beside_it(path: Path) -> None:
    before = path.stat().st_ino
    assert not sqlite.seeded(path)
    assert path.stat().st_ino == before
    assert {each.name for each in path.parent.iterdir()} <= {path.name, f"{path.name}-wal", f"{path.name}-shm"}


def slow(*case: object) -> object:
    return pytest.param(*case, marks=pytest.mark.slow)


def content(path: Path) -> list[object]:
    """The tables' definitions, how many rows they have, and what their numbers add up to."""
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        named = [name for name, sql in tables if str(sql).startswith("CREATE TABLE")]
        return [tables, *(connection.execute(f"SELECT count(*), sum(rowid) FROM {name}").fetchone() for name in named)]  # noqa: S608


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (["DELETE FROM transactions WHERE number > 50000"], "other rows than the seed"),
        slow(["UPDATE accounts SET owner = 'x' WHERE account = 9"], "other rows than the seed"),
        slow(["ALTER TABLE accounts RENAME COLUMN balance TO cents"], "no such column"),
        (["DROP TABLE transactions"], "no such table"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused_and_left(path: Path, harm: list[str], why: str) -> None:
    change(path, *harm)
    before = content(path)
    with pytest.raises(StoreError, match=why), opened({"store": "sqlite", "database": str(path)}):
        pass
    assert content(path) == before


@pytest.mark.slow
def test_what_violates_a_constraint_is_said_and_nothing_is_kept(path: Path) -> None:
    with opened({"store": "sqlite", "database": str(path)}) as held:
        change(path, "CREATE TRIGGER no BEFORE INSERT ON transactions BEGIN SELECT RAISE(ABORT, 'frozen'); END")
        with pytest.raises(StoreError, match="IntegrityError: frozen"):
            held.store.pay(1, 2, 3, Spent())
        assert held.store.account(1, Spent()) == seed.accounts()[0]
        change(path, "DROP TRIGGER no")
        assert held.store.pay(1, 2, 3, Spent()).accepted


class Slow:
    """A pool whose connection is free after 700 ns of the test's clock."""

    def __init__(self, pool: Any, now: list[int]) -> None:
        self._pool, self._now = pool, now

    def get(self, timeout: float) -> Any:
        self._now[0] += 700
        return self._pool.get(timeout=timeout)

    def put(self, connection: Any) -> None:
        self._now[0] += 20
        self._pool.put(connection)


def test_waiting_for_a_connection_is_told_apart_from_using_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, spent = [0], Spent()
    monkeypatch.setattr(sqlite_file, "now_ns", lambda: now[0])
    with opened({"store": "sqlite", "database": str(path), "pool": "1"}) as held:
        store = held.store
        slow: Any = Slow(store._connections, now)
        with sqlite_file.lent(slow, spent):
            now[0] += 1_000
    assert (spent.pool_ns, spent.database_ns, spent.store_ns) == (700, 1_020, 1_720)


@pytest.mark.slow
def test_a_pool_without_a_free_connection_gives_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "PATIENCE_S", 0.01)
    with opened({"store": "sqlite", "database": str(path), "pool": "1"}) as held:
        store = held.store
        with sqlite_file.lent(store._connections, Spent()), pytest.raises(StoreError, match="was free"):
            store.account(1, Spent())
        assert store.account(1, Spent()) == seed.accounts()[0]
