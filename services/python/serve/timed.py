"""Answers of operations whose held store tells where the time of each request went (`stores.base.Times`).

Each function here makes, once for an operation, what answers its requests, so that little stands between clock and store.
`requests`: as how many each one counts (0: it is a further step of a request that is counted, or of a stream, whose events
count: `stores.base.Spent`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from typing import Any

from services.python.operations import Operation
from services.python.stores.base import Held, Spent, now_ns

Request = Mapping[str, Any]
WallClockNs = Callable[[], int]


def inline(
    operation: Operation, wall_clock_ns: WallClockNs, held: Held, requests: int = 1
) -> Callable[[Request], dict[str, Any]]:
    """What answers in the thread that asks; a request that cannot be answered is not counted."""
    if held.runs == "loop":
        raise ValueError(f"{operation.name} is awaited on an event loop here, and this server has none")
    run, add = _running(operation, wall_clock_ns, held), held.times.add

    def answered(request: Request) -> dict[str, Any]:
        asked_ns = now_ns()
        reply, spent, begun_ns, ended_ns = run(request)
        add(now_ns() - asked_ns, 0, ended_ns - begun_ns - spent.store_ns, spent, requests)
        return reply

    return answered


def in_pool(
    pool: Executor, operation: Operation, wall_clock_ns: WallClockNs, held: Held, requests: int = 1
) -> Callable[[Request], Awaitable[dict[str, Any]]]:
    """What answers in a thread of the pool, to be awaited on this event loop."""
    run, add = _running(operation, wall_clock_ns, held), held.times.add

    async def answered(request: Request) -> dict[str, Any]:
        asked_ns = now_ns()
        reply, spent, begun_ns, ended_ns = await asyncio.get_running_loop().run_in_executor(pool, run, request)
        back_ns = now_ns()
        queue_ns = (begun_ns - asked_ns) + (back_ns - ended_ns)
        add(back_ns - asked_ns, queue_ns, ended_ns - begun_ns - spent.store_ns, spent, requests)
        return reply

    return answered


def on_loop(
    operation: Operation, wall_clock_ns: WallClockNs, held: Held, requests: int = 1
) -> Callable[[Request], Awaitable[dict[str, Any]]]:
    """What is awaited on this event loop; waiting for the loop itself counts where it is waited for."""
    awaited, add = operation.awaited, held.times.add
    assert awaited is not None  # noqa: S101 - of every operation that asks a store

    async def answered(request: Request) -> dict[str, Any]:
        asked_ns = now_ns()
        spent = Spent()
        begun_ns = now_ns()
        reply = await awaited(request, wall_clock_ns, held, spent)
        ended_ns = now_ns()
        add(now_ns() - asked_ns, 0, ended_ns - begun_ns - spent.store_ns, spent, requests)
        return reply

    return answered


def _running(
    operation: Operation, wall_clock_ns: WallClockNs, held: Held
) -> Callable[[Request], tuple[dict[str, Any], Spent, int, int]]:
    """What gives the reply, what of it was spent in the store, and when it was begun and ended."""
    answer = operation.answer

    def run(request: Request) -> tuple[dict[str, Any], Spent, int, int]:
        begun_ns = now_ns()
        spent = Spent()
        reply = answer(request, wall_clock_ns, held, spent)
        return reply, spent, begun_ns, now_ns()

    return run
