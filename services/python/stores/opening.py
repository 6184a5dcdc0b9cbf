"""Opens the store that a serve line names among its resources; what a store needs is loaded only there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from services.python.stores.base import (
    DATABASE,
    NONE,
    POOL,
    POOL_SIZE,
    POSTGRESQL,
    SQLITE,
    STORE,
    STORES,
    Held,
    StoreError,
)

_MOST_CONNECTIONS = 1_000


@contextmanager
def opened(settings: Mapping[str, str]) -> Iterator[Held]:
    """The store of these settings as seeded, `none` unless they name one. StoreError where it cannot be had."""
    kind = settings.get(STORE, NONE)
    if kind == NONE:
        from services.python.stores.memory import MemoryStore

        if strange := sorted(settings.keys() - {STORE}):
            raise StoreError(f"{STORE}: {NONE} is in memory, and takes no {', '.join(strange)}")
        yield Held(store=MemoryStore())
    elif kind == SQLITE:
        from services.python.stores import sqlite

        with sqlite.opened(Path(_database(settings)), _pool(settings)) as (store, told):
            yield Held(store=store, settings=told)
    elif kind == POSTGRESQL:
        from services.python.stores import psycopg_store

        with psycopg_store.opened(_database(settings), _pool(settings)) as (by_psycopg, told):
            yield Held(store=by_psycopg, settings=told)
    else:
        raise StoreError(f"unknown store {kind!r}; there are {', '.join(STORES)}")


def _database(settings: Mapping[str, str]) -> str:
    if not settings.get(DATABASE):
        raise StoreError(f"{STORE}: {settings[STORE]} needs a {DATABASE}, and none is named")
    return settings[DATABASE]


def _pool(settings: Mapping[str, str]) -> int:
    """How many connections are kept."""
    text = settings.get(POOL, str(POOL_SIZE))
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= _MOST_CONNECTIONS):
        raise StoreError(f"{POOL}: a pool has 1 to {_MOST_CONNECTIONS:,} connections, not {text:.40}")
    return int(text)
