"""What takes longer than a moment runs in a thread, a little at a time: whoever comes later waits, nothing piles up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool

P = ParamSpec("P")
T = TypeVar("T")


class Work:
    """`quick` reads the index, `heavy` judges runs and writes reports and exports; one of each at a time.

    More at once would answer no sooner, as Python runs one of them at a time, and would take a measurement's CPU from it.
    """

    def __init__(self) -> None:
        self._quick = asyncio.Semaphore(1)
        self._heavy = asyncio.Semaphore(1)

    async def quick(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `do` returns, when its turn has come."""
        async with self._quick:
            return await run_in_threadpool(do, *args, **kwargs)

    async def heavy(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `do` returns, when its turn has come."""
        async with self._heavy:
            return await run_in_threadpool(do, *args, **kwargs)
