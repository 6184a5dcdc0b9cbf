"""HTTP's servers, and how replies are read."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from services.python.codecs.json import JSON, json_bytes, json_object
from services.python.load.client import CallFailed
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import CannotServe
from services.python.transports.http import asgi, granian, wsgi
from services.python.transports.http.route import Route


@pytest.mark.parametrize("server", [asgi, granian, wsgi])
def test_a_port_that_is_taken_is_refused_before_anything_starts(server: Any) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("announced")

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotServe, match=f"cannot listen on 127.0.0.1:{port}"):
            server.serve(None, Dispatcher(identity="me"), "127.0.0.1", port, never)


ROUTE = Route(path="/ask", content_type=JSON, encode=json_bytes, decode=json_object)


def test_json_is_compact_and_utf8() -> None:
    assert json_bytes({"a": [1, "é"]}) == '{"a":[1,"é"]}'.encode()


@pytest.mark.parametrize("status", [100, 201, 204, 302, 404, 500])
def test_any_other_status_is_an_error_of_the_protocol(status: int) -> None:
    with pytest.raises(CallFailed, match=f"HTTP {status}: b'oops'") as failure:
        ROUTE.read(status, b"oops")
    assert failure.value.status == "protocol"
