"""Answers of operations whose held store tells where the time of each request went (`stores.base.Times`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from typing import Any

from services.python.operations import Operation
from services.python.stores.base import Held, Spent, now_ns


def answered(
    operation: Operation, request: Mapping[str, Any], wall_clock_ns: Callable[[], int], held: Held
) -> dict[str, Any]:
    """The reply, answered in this thread; a request that cannot be answered is not counted."""
    if operation.runs_on_loop(held):
        raise ValueError(f"{operation.name} is awaited on an event loop here, and this server has none")
    asked_ns = now_ns()
    reply, spent, begun_ns, ended_ns = _run(operation, request, wall_clock_ns, held)
    held.times.add(
        handling_ns=now_ns() - asked_ns,
        queue_ns=0,
        service_ns=ended_ns - begun_ns - spent.store_ns,
        spent=spent,
    )
    return reply


def answered_in_pool(
    pool: Executor, operation: Operation, request: Mapping[str, Any], wall_clock_ns: Callable[[], int], held: Held
) -> Awaitable[dict[str, Any]]:
    """The reply, answered in a thread of the pool, to be awaited on this event loop."""
    asked_ns = now_ns()
    running = asyncio.get_running_loop().run_in_executor(pool, _run, operation, request, wall_clock_ns, held)

    async def counted() -> dict[str, Any]:
        reply, spent, begun_ns, ended_ns = await running
        back_ns = now_ns()
        held.times.add(
            handling_ns=back_ns - asked_ns,
            queue_ns=(begun_ns - asked_ns) + (back_ns - ended_ns),
            service_ns=ended_ns - begun_ns - spent.store_ns,
            spent=spent,
        )
        return reply

    return counted()


async def answered_on_loop(
    operation: Operation, request: Mapping[str, Any], wall_clock_ns: Callable[[], int], held: Held
) -> dict[str, Any]:
    """The reply, awaited on this event loop; waiting for the loop itself counts where it is waited for."""
    assert operation.awaited is not None  # noqa: S101 - of every operation that asks a store
    asked_ns = now_ns()
    spent = Spent()
    begun_ns = now_ns()
    reply = await operation.awaited(request, wall_clock_ns, held, spent)
    ended_ns = now_ns()
    held.times.add(
        handling_ns=now_ns() - asked_ns,
        queue_ns=0,
        service_ns=ended_ns - begun_ns - spent.store_ns,
        spent=spent,
    )
    return reply


def _run(
    operation: Operation, request: Mapping[str, Any], wall_clock_ns: Callable[[], int], held: Held
) -> tuple[dict[str, Any], Spent, int, int]:
    """The reply, what of it was spent in the store, and when it was begun and ended."""
    begun_ns = now_ns()
    spent = Spent()
    reply = operation.answer(request, wall_clock_ns, held, spent)
    return reply, spent, begun_ns, now_ns()
