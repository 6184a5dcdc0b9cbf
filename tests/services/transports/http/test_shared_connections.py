"""`connections: N` over HTTP/2: how many connections carry the requests in flight, and what comes when one is gone."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from pathlib import Path

import pytest

from services.python.contract.lines import Load, Target, Trial, Warmup
from services.python.load.client import CallFailed, CallSpec
from services.python.load.record import read_record
from services.python.transports.http.clients import clients
from tests.support import wire
from tests.support.certificates import TLS, certificates
from tests.support.ends import make_trial, responder

pytestmark = pytest.mark.busy

CLIENT = "pycurl-multi"
TWO = {"http": "2"}
IN_FLIGHT = 6


@pytest.mark.parametrize("shared", [None, 1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("secured", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_as_many_connections_carry_the_requests_as_were_asked_for(
    shared: int | None, secured: bool, tmp_path: Path
) -> None:
    made = certificates(tmp_path / "tls") if secured else None
    knobs = {**TWO, **(TLS if secured else {}), **({} if shared is None else {"connections": str(shared)})}
    serving = {**({} if made is None else made.serving), "knobs": knobs}
    with responder("http+json", implementation="asgi-granian", **serving) as (process, ready):
        trial = Trial(
            target=Target(host=wire.HOST, port=ready["port"], identity="nonce"),
            protocol="http+json",
            client=CLIENT,
            operation="add",
            record=str(tmp_path / "record"),
            load=Load(concurrency=IN_FLIGHT, requests=120),
            warmup=Warmup(requests=30, at_least_s=0.0),
            knobs=knobs,
            tls=None if made is None else made.authority,
        )
        done = make_trial(trial)[-1]
        process.send("stats")
        peers = process.read()["peers"]
    kept = IN_FLIGHT if shared is None else shared
    assert (done["type"], done.get("errors")) == ("done", {})
    assert peers == kept + 2  # and both of the check
    assert Counter(row.connection for row in read_record(tmp_path / "record")).keys() == set(range(kept))
    assert done["connections_opened"] == 0
    assert done["opening"]["connections"] == kept


def test_requests_on_one_connection_do_not_wait_for_one_another(tmp_path: Path) -> None:
    """What it is for: a stream that the responder holds up holds up no other."""
    from services.python.codecs.json import JSON, json_bytes, json_object
    from services.python.transports.http.clients import dial_with
    from services.python.transports.http.route import Route

    (client,) = (each for each in clients("any.requester") if each.name == CLIENT)
    route = Route(path="/ask", content_type=JSON, encode=json_bytes, decode=json_object)

    async def asked(port: int) -> int:
        call = CallSpec(
            host=wire.HOST,
            port=port,
            operation="ask",
            timeout_s=10,
            example={},
            knobs={**TWO, "connections": "1"},
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
