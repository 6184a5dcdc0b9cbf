"""`connections: N` over HTTP/2: how many connections carry the requests in flight, and what comes when one is gone."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from services.python.load.client import CallFailed, CallSpec
from services.python.transports.http.clients import clients
from tests.support import wire

pytestmark = pytest.mark.busy

CLIENT = "pycurl-multi"
TWO = {"http": "2"}


def test_requests_on_one_connection_do_not_wait_for_one_another(tmp_path: Path) -> None:
    """What it is for: a stream that the responder holds up holds up no other."""
    from services.python.codecs.json import JSON, json_bytes, json_object
    from services.python.transports.http.clients import dial_with
    from services.python.transports.http.route import Route

    (client,) = (each for each in clients("any.requester") if each.name == CLIENT)
    route = Route(path="/ask", content_type=JSON, encode=json_bytes, decode=json_object)

    async def asked(port: int) -> int:
        call = CallSpec(
            host=wire.HOST, port=port, operation="ask", timeout_s=10, example={}, knobs={**TWO, "connections": "1"}
        )
        dialer = dial_with(client, route, call)
        connections = [await dialer.dial() for _ in range(3)]  # type: ignore[misc]
        found = await asyncio.gather(*(each.call({}) for each in connections), return_exceptions=True)
        assert all(isinstance(each, CallFailed) for each in found)
        for each in connections:
            await each.close()
        return len(connections)

    opened: list[int] = []
    with socket.create_server((wire.HOST, 0)) as listener:
        listener.settimeout(10)

        def answer() -> bytes:
            """Take one connection, read what comes in half a second, and hang up."""
            connection, _ = listener.accept()
            opened.append(1)
            connection.settimeout(0.5)
            came = b""
            # An empty SETTINGS frame: the server's preface.
            connection.sendall(b"\0\0\0\4\0\0\0\0\0")
            try:
                while more := connection.recv(65536):
                    came += more
            except TimeoutError:
                pass
            connection.close()
            return came

        async def both() -> bytes:
            served = asyncio.get_running_loop().run_in_executor(None, answer)
            await asked(listener.getsockname()[1])
            return await served

        came = asyncio.run(both())
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert opened == [1]
    assert came.count(b"PRI * HTTP/2.0") == 1
    assert headers_in(came) == 3


def headers_in(came: bytes) -> int:
    """How many HEADERS frames, one for each request, came after the preface."""
    at, count = len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 0
    while at + 9 <= len(came):
        size, kind = int.from_bytes(came[at : at + 3], "big"), came[at + 3]
        count += kind == 1
        at += 9 + size
    return count
