"""Every protocol hands its decoded requests to the dispatcher, and sends back what it is given.

It runs the operation, paces the events of a stream, counts requests and distinct peers, and knows the nonce that proves
which responder answered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from services.python.operations import OPERATIONS
from services.python.serve.streams import EventTotals, Outgoing

Peer = tuple[str, int] | str


@dataclass
class Dispatcher:
    """Answers, behind every protocol; `answer` may be called from any thread."""

    identity: str
    knobs: Mapping[str, str] = field(default_factory=dict)  # what is not at its default (protos/process.md)
    wall_clock_ns: Callable[[], int] = time.time_ns
    answered: int = 0
    peers: set[Peer] = field(default_factory=set)
    events: EventTotals = field(default_factory=EventTotals)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def answer(self, operation: str, request: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
        """The reply to a request, both in plain values; KeyError for an operation that is not known."""
        self._count(peer)
        if operation == "identity":
            return {"identity": self.identity}
        return OPERATIONS[operation].answer(request, self.wall_clock_ns)

    def subscribe(self, operation: str, request: Mapping[str, Any], peer: Peer) -> Outgoing:
        """The events that a request subscribes to; its stream begins now.

        KeyError for an operation that is not known, ValueError for one without events or a request that cannot be met.
        """
        self._count(peer)
        stream = OPERATIONS[operation].stream
        if stream is None:
            raise ValueError(f"{operation} has a reply, and no events to subscribe to")
        return Outgoing(stream.schedule(request), self.events)

    def _count(self, peer: Peer) -> None:
        with self._lock:
            self.answered += 1
            self.peers.add(peer)
