"""granian as a responder's server, where that differs from the tests that all servers share."""

from __future__ import annotations

import socket

import pytest

from tests.support.ends import responder
from tests.support.http2 import EMPTY_SETTINGS, LEAST_WINDOW, PREFACE, SETTINGS, WINDOW_UPDATE, first_of, window_in

pytestmark = pytest.mark.busy

NAMES = {"protocol": "http+json", "implementation": "asgi-granian"}


def windows_of(connection: socket.socket) -> tuple[int, int]:
    """The window of each stream and that of the connection, by what a server says first."""
    connection.sendall(PREFACE + EMPTY_SETTINGS)
    of_streams = window_in(first_of(connection, SETTINGS))
    grown = int.from_bytes(first_of(connection, WINDOW_UPDATE), "big")
    return of_streams, LEAST_WINDOW + grown


@pytest.mark.parametrize(("told", "window"), [({}, 1_048_576), ({"flow_window": "131072"}, 131_072)])
def test_it_gives_requests_the_window_that_was_asked_for(told: dict[str, str], window: int) -> None:
    with (
        responder(**NAMES, knobs={"http": "2", **told}) as (_, ready),
        socket.create_connection(("127.0.0.1", ready["port"]), timeout=60) as connection,
    ):
        assert windows_of(connection) == (window, window)


def test_the_smallest_window_is_what_a_connection_begins_with() -> None:
    with (
        responder(**NAMES, knobs={"http": "2", "flow_window": "65535"}) as (_, ready),
        socket.create_connection(("127.0.0.1", ready["port"]), timeout=60) as connection,
    ):
        connection.sendall(PREFACE + EMPTY_SETTINGS)
        assert window_in(first_of(connection, SETTINGS)) == LEAST_WINDOW
        connection.shutdown(socket.SHUT_WR)
        with pytest.raises(AssertionError, match="no frame of type 8"):
            first_of(connection, WINDOW_UPDATE)
