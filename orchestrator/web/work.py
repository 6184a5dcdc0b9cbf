"""What takes longer than a moment runs in a thread, one at a time: whoever comes later waits, and so many at most."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool

from orchestrator.web.refused import Refused

P = ParamSpec("P")
T = TypeVar("T")

MOST_QUICK, MOST_HEAVY = 1_000, 32
"""Requests that wait for a look at the index, and for a run that is judged, a report, an export or a plan."""
_QUICK_AGAIN_S, _HEAVY_AGAIN_S = 5, 15


class Turns:
    """One request at a time; so many wait, and the next one is Refused with 503, told when to come again."""

    def __init__(self, most: int, again_s: int) -> None:
        self._most, self._again_s = most, again_s
        self._turn = asyncio.Semaphore(1)
        self._waiting = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for one's turn, and have it within the block."""
        if self._waiting >= self._most:
            raise Refused(
                503,
                f"{self._waiting} requests wait already, which is the most at once",
                hint=f"ask again in {self._again_s} seconds: one is answered after the other, so that nothing that is "
                "measured here is disturbed",
                again_s=self._again_s,
            )
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._turn.release()

    async def do(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `do` returns, in a thread, when its turn has come."""
        async with self.turn():
            return await run_in_threadpool(do, *args, **kwargs)


class Work:
    """`quick` reads the index, `heavy` judges runs and writes reports and exports; one of each at a time.

    More at once would answer no sooner, as Python runs one of them at a time, and would take a measurement's CPU from it.
    """

    def __init__(self) -> None:
        self._quick = Turns(MOST_QUICK, _QUICK_AGAIN_S)
        self._heavy = Turns(MOST_HEAVY, _HEAVY_AGAIN_S)

    async def quick(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `do` returns, when its turn has come."""
        return await self._quick.do(do, *args, **kwargs)

    async def heavy(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `do` returns, when its turn has come."""
        return await self._heavy.do(do, *args, **kwargs)
