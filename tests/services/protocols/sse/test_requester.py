"""The client of server-sent events: one connection, and nothing asked again."""

from __future__ import annotations

import socket
import threading

import pytest

from services.python.load.client import CallFailed, CallSpec
from services.python.protocols.sse import stream
from services.python.protocols.sse.requester import SseDialer
from tests.support.wire import HOST, run_awaiting

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = stream.encode({"sequence": 1, "sent_ns": 5, "data": "x"})
REPLY = HEAD + b"%x\r\n%b\r\n0\r\n\r\n" % (len(EVENT), EVENT)


def test_a_kept_connection_that_is_gone_is_closed_and_not_opened_anew() -> None:
    connections = []

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # the listener was closed
            connections.append(connection)
            connection.recv(65536)
            connection.sendall(REPLY)
            if len(connections) == 1:
                connection.recv(65536)  # and no answer to the second request
            connection.close()

    async def subscribe_twice() -> list[int]:
        call = CallSpec(host=HOST, port=port, operation="events", timeout_s=10, example={}, kind="stream")
        connection = await SseDialer(call).dial()
        came = []
        try:
            for _ in range(2):
                await connection.subscribe({"count": 1})
                while (event := await connection.next_event()) is not None:
                    came.append(event[0]["sequence"])
        except CallFailed as failure:
            assert (failure.status, came) == ("closed", [1])  # noqa: PT017 - `came` belongs to it
            raise
        finally:
            await connection.close()
        return came

    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        with pytest.raises(CallFailed):
            run_awaiting(subscribe_twice())
        listener.shutdown(socket.SHUT_RDWR)
    assert len(connections) == 1
