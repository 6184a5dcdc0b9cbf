"""Stores in a PostgreSQL that a test has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from services.python.stores.base import Spent, opened


def settings(dsn: str, pool: int = 4) -> dict[str, str]:
    return {"store": "postgresql", "database": dsn, "pool": str(pool)}


def awaited(database: str, ask: Callable[[Any, Spent], Awaitable[Any]], pool: int = 2) -> Any:
    """What asyncpg's store gives, on an event loop of its own."""
    with opened({**settings(database, pool), "driver": "asyncpg"}) as held:
        assert held.runs == "loop"
        assert held.settings["driver"].startswith("asyncpg ")

        async def on_loop() -> Any:
            try:
                return await ask(held.store, Spent())
            finally:
                store: Any = held.store
                if store._pool is not None:
                    store._pool.terminate()

        return asyncio.run(on_loop())
