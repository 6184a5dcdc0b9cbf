"""Every protocol hands its decoded requests to the dispatcher, and sends back what it is given.

It runs the operation, paces the events of a stream, counts requests and distinct peers, and knows the nonce that proves
which responder answered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from services.python.operations import OPERATIONS, Operation
from services.python.serve.streams import EventTotals, Outgoing, Pages

if TYPE_CHECKING:
    import socket
    from concurrent.futures import ThreadPoolExecutor

    from services.python.contract.responder_lines import Tls

Peer = tuple[str, int] | str
Answering = Callable[[Mapping[str, Any]], dict[str, Any] | Awaitable[dict[str, Any]]]

POOL_THREADS = 32  # as many as grpcio's blocking server has, unless what is held keeps more busy


@dataclass
class Dispatcher:
    """Answers, behind every protocol, where the operation says that it runs (`Operation.runs`).

    `answer` is for servers with a thread for each request, and may be called from any of them: that thread is the pool's.
    `answer_async` is for event loops.
    """

    identity: str
    knobs: Mapping[str, str] = field(default_factory=dict)  # what is not at its default (protos/process.md)
    schema: bytes | None = None  # of the message that a JSON document travels as (protos/documents.md)
    tls: Tls | None = None  # the certificate of its server; None: connections are plain
    listener: socket.socket | None = None  # the one that it shares with other workers; None: its server makes its own
    wall_clock_ns: Callable[[], int] = time.time_ns
    answered: int = 0
    peers: set[Peer] = field(default_factory=set)
    held: Mapping[str, Any] = field(default_factory=dict)  # what operations hold, by their names
    events: EventTotals = field(default_factory=EventTotals)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _steps: dict[tuple[int, bool], Answering] = field(default_factory=dict, repr=False)

    def answer(self, operation: str, request: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
        """The reply to a request, both in plain values; KeyError for an operation that is not known."""
        self._count(peer)
        if operation == "identity":
            return {"identity": self.identity}
        return self._run(OPERATIONS[operation], request)

    def answer_async(
        self, operation: str, request: Mapping[str, Any], peer: Peer
    ) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        """As `answer`, on an event loop: the reply itself of what runs inline, else what to await for it.

        So what runs inline pays for no coroutine and no task.
        """
        self._count(peer)
        if operation == "identity":
            return {"identity": self.identity}
        known = OPERATIONS[operation]
        if known.runs == "inline":
            return self._run(known, request)
        if known.runs == "held" and (timed := self._timed_async.get(operation)) is not None:
            return timed(request)
        if not known.runs_in_pool(request, self.held.get(operation)):
            return self._run(known, request)
        import asyncio

        return asyncio.get_running_loop().run_in_executor(self._pool, self._run, known, request)

    def step_async(
        self, of: str, step: Operation, request: Mapping[str, Any], peer: Peer | None = None
    ) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        """What one step of a nested request, or of a stream, gives, as `answer_async` does; `of` holds the store.

        `peer` is given with the first step of a request, which counts it.
        """
        if peer is not None:
            self._count(peer)
        held = self._held_by(of)
        key = id(step), peer is not None
        if (answer := self._steps.get(key)) is None:
            answer = self._answering_async(step, held, int(peer is not None))
            self._steps[key] = answer
        return answer(request)

    def subscribe(self, operation: str, request: Mapping[str, Any], peer: Peer) -> Outgoing:
        """The events that a request subscribes to; its stream begins now.

        KeyError for an operation that is not known, ValueError for one without events or a request that cannot be met.
        """
        self._count(peer)
        stream = OPERATIONS[operation].stream
        if stream is None:
            raise ValueError(f"{operation} has a reply, and no events to subscribe to")
        schedule = stream.schedule(request)
        if stream.page is None or schedule.page is None:
            return Outgoing(schedule, self.events)
        return Outgoing(schedule, self.events, self._pages(operation, stream.page, schedule.page))

    def _pages(self, of: str, page: Operation, request_of: Callable[[int], Mapping[str, Any]]) -> Pages:
        """Who reads what the events of a stream carry; `of` holds the store. Its events count, and no request."""
        held = self._held_by(of)

        def blocking(number: int) -> dict[str, Any]:
            from services.python.serve import timed

            return timed.inline(page, self.wall_clock_ns, held, 0)(request_of(number))

        return Pages(blocking=blocking, awaited=lambda number: self.step_async(of, page, request_of(number)))

    def _held_by(self, operation: str) -> Any:
        if operation not in self.held:
            raise ValueError(f"{operation} was not among the operations of the serve line, so it holds nothing")
        return self.held[operation]

    def _count(self, peer: Peer) -> None:
        with self._lock:
            self.answered += 1
            self.peers.add(peer)

    def _run(self, operation: Operation, request: Mapping[str, Any]) -> dict[str, Any]:
        if operation.open is None:
            return operation.answer(request, self.wall_clock_ns)
        held = self._held_by(operation.name)
        timed = self._timed.get(operation.name)
        if timed is not None:
            return timed(request)
        return operation.answer(request, self.wall_clock_ns, held)

    @cached_property
    def _timed(self) -> Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]:
        """What answers, in the thread that asks, each operation whose held store tells where its time goes."""
        every = self._stored()
        if not every:
            return {}
        from services.python.serve import timed  # what holds no store does not pay for it

        return {name: timed.inline(OPERATIONS[name], self.wall_clock_ns, held) for name, held in every.items()}

    @cached_property
    def _timed_async(self) -> Mapping[str, Answering]:
        """The same on an event loop, where each runs as its store says."""
        return {name: self._answering_async(OPERATIONS[name], held, 1) for name, held in self._stored().items()}

    def _answering_async(self, operation: Operation, held: Any, requests: int) -> Answering:
        """What answers on an event loop, where the store says that it runs; `requests` as `serve.timed` has them."""
        from services.python.serve import timed  # what holds no store does not pay for it

        if held.runs == "pool":
            return timed.in_pool(self._pool, operation, self.wall_clock_ns, held, requests)
        make = timed.on_loop if held.runs == "loop" else timed.inline
        return make(operation, self.wall_clock_ns, held, requests)

    def _stored(self) -> dict[str, Any]:
        return {
            name: held
            for name, held in self.held.items()
            if getattr(held, "times", None) is not None and OPERATIONS[name].stream is None
        }

    @property
    def threads(self) -> int:
        return max(POOL_THREADS, *(getattr(held, "threads", 0) for held in self.held.values()), 0)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(self.threads, thread_name_prefix="operation")
