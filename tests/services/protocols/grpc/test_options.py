"""A call's end in the words of the record."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from services.python.load.client import CallFailed
from services.python.protocols.grpc import options
from tests.support import wire


@pytest.mark.parametrize(
    ("code", "details", "status"),
    [
        (grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded", "timeout"),
        (grpc.StatusCode.CANCELLED, "Channel closed!", "cancelled"),
        (grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses; last error: Connection refused", "refused"),
        (grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses; last error: Socket closed", "closed"),
        (grpc.StatusCode.UNAVAILABLE, "failed to connect: Failed parsing HTTP/2 (Expected SETTINGS)", "undecodable"),
        (grpc.StatusCode.UNAVAILABLE, "recvmsg:Connection reset by peer", "closed"),
        (grpc.StatusCode.INTERNAL, "Exception deserializing response!", "undecodable"),
        (grpc.StatusCode.INTERNAL, "RST_STREAM with error code 2", "protocol"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "Received message larger than max", "protocol"),
        (grpc.StatusCode.UNKNOWN, None, "protocol"),
    ],
)
def test_status_codes(code: grpc.StatusCode, details: str | None, status: str) -> None:
    failure = options.failure(code, details)
    assert failure.status == status
    assert failure.detail.startswith(code.name)


@pytest.mark.parametrize("client", ["grpcio", "grpc-aio"])
def test_a_reply_that_is_no_message_is_undecodable(client: str) -> None:
    class Junk(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, _details: object) -> object:
            return grpc.unary_unary_rpc_method_handler(lambda _request, _context: b"\xff\xff\xff")

    server = grpc.server(ThreadPoolExecutor(max_workers=1))
    server.add_generic_rpc_handlers((Junk(),))
    port = server.add_insecure_port(f"{wire.HOST}:0")
    server.start()
    try:
        with pytest.raises(CallFailed) as failed:
            wire.ask("grpc", client, port, "add", {"a": 1, "b": 2})
    finally:
        server.stop(None)
    assert failed.value.status == "undecodable"
