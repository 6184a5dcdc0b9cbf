"""The servers of HTTP: what they share, and how ASGI is set up."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import CannotServe
from services.python.transports.http import asgi, granian, wsgi


@pytest.mark.parametrize("server", [asgi, granian, wsgi])
def test_a_port_that_is_taken_is_refused_before_anything_starts(server: Any) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("announced")

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotServe, match=f"cannot listen on 127.0.0.1:{port}"):
            server.serve(None, Dispatcher(identity="me"), "127.0.0.1", port, never)
