"""How many streams the blocking responder serves at once is what it declares."""

from __future__ import annotations

from services.python.protocols.grpc import PROTOCOL
from services.python.serve.dispatcher import POOL_THREADS


def test_each_stream_takes_a_thread_of_the_pool() -> None:
    declared = {responder.name: responder.most_streams for responder in PROTOCOL.responders}
    assert declared == {"grpcio": POOL_THREADS, "grpcio-parse-only": POOL_THREADS, "grpc-aio": None}
