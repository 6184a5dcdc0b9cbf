"""The same calls with the same library on the same connections, and nothing else: what a user's own loop would do.

It makes each request as the requester does, outside of that request's round trip: a user has to, too.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from services.python.operations.base import Make

Times = tuple[list[int], int]
"""The round trip of each request and the duration of all of them, nanoseconds."""


def blocking(connections: Sequence[Any], make: Make, requests: int) -> Times:
    """One thread a connection; the calling thread alone where there is one."""
    clock, wall, times, taken = time.monotonic_ns, time.time_ns, [0] * requests, itertools.count()

    def work(connection: Any) -> None:
        call = connection.call
        while (index := next(taken)) < requests:
            request = make(index + 1, wall)
            began_ns = clock()
            call(request)
            times[index] = clock() - began_ns

    if len(connections) == 1:
        began_ns = clock()
        work(connections[0])
        return times, clock() - began_ns
    with ThreadPoolExecutor(len(connections)) as pool:
        began_ns = clock()
        for ended in [pool.submit(work, connection) for connection in connections]:
            ended.result()
        return times, clock() - began_ns


def awaiting(loop: asyncio.AbstractEventLoop, connections: Sequence[Any], make: Make, requests: int) -> Times:
    """One task a connection."""
    clock, wall, times, taken = time.monotonic_ns, time.time_ns, [0] * requests, itertools.count()

    async def work(connection: Any) -> None:
        call = connection.call
        while (index := next(taken)) < requests:
            request = make(index + 1, wall)
            began_ns = clock()
            await call(request)
            times[index] = clock() - began_ns

    async def all_of_them() -> int:
        began_ns = clock()
        await asyncio.gather(*[work(connection) for connection in connections])
        return clock() - began_ns

    took_ns = loop.run_until_complete(all_of_them())
    return times, took_ns
