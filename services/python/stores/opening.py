"""Opens the store that a serve line names among its resources; what a store needs is loaded only there."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from services.python.contract.knobs import DRIVERS, PSYCOPG
from services.python.stores.base import (
    DATABASE,
    DRIVER,
    NONE,
    POSTGRESQL,
    SQLITE,
    STORE,
    STORES,
    Held,
    StoreError,
    pool_size,
)


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
        if DRIVER in settings:
            raise StoreError(f"{STORE}: {SQLITE} is asked by Python's own library, and takes no {DRIVER}")
        from services.python.stores import sqlite

        with sqlite.opened(Path(_database(settings)), pool_size(settings)) as (store, described):
            yield Held(store=store, settings=described)
    elif kind == POSTGRESQL:
        driver = settings.get(DRIVER, PSYCOPG)
        if driver not in DRIVERS:
            raise StoreError(f"unknown driver {driver!r}; there are {', '.join(DRIVERS)}")
        module = importlib.import_module(f"services.python.stores.{driver}_store")
        with module.opened(_database(settings), pool_size(settings)) as (awaited_store, described):
            yield Held(store=awaited_store, settings=described)
    else:
        raise StoreError(f"unknown store {kind!r}; there are {', '.join(STORES)}")


def _database(settings: Mapping[str, str]) -> str:
    if not settings.get(DATABASE):
        raise StoreError(f"{STORE}: {settings[STORE]} needs a {DATABASE}, and none is named")
    return settings[DATABASE]
